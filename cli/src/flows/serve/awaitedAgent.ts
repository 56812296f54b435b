/** The agent that a session-manager in a container needs: a program of its own, which somebody else starts. */
import type { HostNeed } from "@reprise/actor"
import { OpenCodeServer } from "@reprise/agent"
import { withoutLogin } from "@reprise/process"
import { Effect } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import { isConfigured, openCodeAt } from "../../system/runtimes.ts"

/** The address of an agent that is waited for; undefined: whatever runs here is started when it is needed. */
export const awaitedAddress = (settings: Settings): string | undefined =>
  isConfigured({ settings }, "opencode") ? settings.opencode.url : undefined

export const awaitedAgent = (settings: Settings): HostNeed | undefined => {
  const url = awaitedAddress(settings)
  if (url === undefined) return undefined
  const look = OpenCodeServer.use(({ version }) => Effect.isSuccess(version)).pipe(Effect.provide(openCodeAt(url)))
  return { what: `an agent that answers at ${withoutLogin(url)}`, look }
}
