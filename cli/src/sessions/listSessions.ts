/** `reprise sessions list` */
import { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import { data, okJson, say } from "../Printer.ts"
import { listOf, withReading } from "../system/reading.ts"
import { sessionTable } from "./sessionText.ts"
import type { SessionFlags } from "./withPlace.ts"

export const list = (flags: SessionFlags) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const sessions = yield* listOf("session-manager", SessionView)
      if (flags.json) return okJson(sessions)
      if (sessions.length === 0) return say("No sessions yet.")
      data(sessionTable(sessions))
    })
  )
