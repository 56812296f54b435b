/** Names that the command line makes: of its commands, of sessions, of this host. */
import { randomUUID } from "node:crypto"
import { isKey, makeRunId, type RunId, SessionId } from "@reprise/protocol"
import { Effect } from "effect"
import { wrongUse } from "../terminal/CliFailure.ts"

/** Identifies one command however often it is sent: the broker drops what it has already. */
export interface CommandId {
  readonly id: string
  /** ISO time from which to look for the outcome. */
  readonly since: string
}

/** Made once per invocation, so that a command that starts again finds the outcome of its first attempt. */
export const newCommandId = (purpose: string): CommandId => ({
  id: `${purpose}-${randomUUID()}`,
  since: new Date(Date.now() - 1000).toISOString()
})

export const newRunId = (): RunId => makeRunId(Date.now(), randomUUID())

export const newSessionId = (): SessionId =>
  SessionId.make(`s${Math.floor(Date.now() / 1000).toString(36)}-${randomUUID().slice(0, 8)}`)

/** The name of this host in subjects: `REPRISE_HOST`, else `local`. */
export const hostName = Effect.suspend(() => {
  const name = process.env["REPRISE_HOST"] ?? "local"
  return isKey(name)
    ? Effect.succeed(name)
    : wrongUse(
        "bad-host",
        `REPRISE_HOST is '${name.slice(0, 80)}', which is not a valid name.`,
        "Use 1 to 64 letters, digits, '_' or '-'."
      )
})
