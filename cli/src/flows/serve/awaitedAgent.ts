/** The agent that the services of a host in containers need: a program of its own, which somebody else starts. */
import type { HostNeed } from "@reprise/actor"
import { OpenCodeServer } from "@reprise/agent"
import { withoutLogin } from "@reprise/process"
import type { ServiceName } from "@reprise/protocol"
import { Effect } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import { isConfigured, openCodeAt } from "../../system/agents/runtimes.ts"

/** The one opens sessions there, and the other takes the runs that need them. */
const withAgent: ReadonlySet<ServiceName> = new Set(["session-manager", "workspace"])

/** The address of an agent that is waited for; undefined: whatever runs here is started when it is needed. */
export const awaitedAddress = (service: ServiceName, settings: Settings): string | undefined =>
  withAgent.has(service) && isConfigured({ settings }, "opencode") ? settings.opencode.url : undefined

const answersUs = (url: string) =>
  OpenCodeServer.use(({ version }) => Effect.isSuccess(version)).pipe(Effect.provide(openCodeAt(url)))

/** Checks reachability without the agent's password, for the service that runs commands of repositories; 401 counts as reachable. */
const answers = (url: string) =>
  Effect.isSuccess(
    Effect.tryPromise(async (signal) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(5_000)])
      const { body } = await fetch(`${url.replace(/(?<!\/)\/+$/, "")}/global/health`, { signal: limit })
      await body?.cancel()
    })
  )

export const awaitedAgent = (service: ServiceName, settings: Settings): HostNeed | undefined => {
  const url = awaitedAddress(service, settings)
  if (url === undefined) return undefined
  const look = service === "session-manager" ? answersUs(url) : answers(url)
  return { what: `an agent that answers at ${withoutLogin(url)}`, look }
}
