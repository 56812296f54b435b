/** `reprise sessions list` */
import { SessionView } from "@reprise/protocol"
import { Effect } from "effect"
import { listOf, withReading } from "../../system/clientSystem.ts"
import type { SessionFlags } from "../../system/withPlace.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { sessionTable } from "../../views/sessionText.ts"

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
