/** `reprise sessions list|show` */
import { SessionView } from "@reprise/protocol"
import Table from "cli-table3"
import { Effect, type Option } from "effect"
import { wrongUse } from "../CliFailure.ts"
import { data, okJson } from "../Printer.ts"
import { listOf, withReading } from "../system/reading.ts"

interface Flags {
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const table = (sessions: ReadonlyArray<SessionView>): string => {
  const rows = new Table({
    head: ["session", "role", "status", "turns", "input", "output", "cached", "runtime session"],
    style: { head: [], border: [] }
  })
  for (const s of sessions) {
    rows.push([
      s.sessionId,
      s.role,
      s.status,
      s.turns,
      s.tokens.input,
      s.tokens.output,
      s.tokens.cacheRead,
      s.runtimeSessionId ?? ""
    ])
  }
  return rows.toString()
}

export const list = (flags: Flags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const sessions = yield* listOf("session-manager", SessionView)
      if (flags.json) return okJson(sessions)
      data(sessions.length === 0 ? "No sessions yet." : table(sessions))
    })
  )

export const show = (flags: Flags & { readonly id: string }) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const session = (yield* listOf("session-manager", SessionView)).find(({ sessionId }) => sessionId === flags.id)
      if (session === undefined) {
        return yield* wrongUse(
          "unknown-session",
          `There is no session ${flags.id}.`,
          "'reprise sessions list' lists them."
        )
      }
      if (flags.json) return okJson(session)
      data(
        Object.entries(session)
          .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
          .join("\n")
      )
    })
  )
