/** Before a program that parked its work ends, what was said is saved: its runtime ends with it. */
import type { RunId } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { allSessions, awaitsSaving } from "./lookUp.ts"

/** What is not saved within this time is saved by the next program that serves the sessions. */
const savingMs = 5_000

export const untilSaved = (runId: RunId) =>
  allSessions.pipe(
    Effect.repeat({
      while: (sessions) => sessions.some((session) => session.runId === runId && awaitsSaving(session)),
      schedule: Schedule.spaced("50 millis")
    }),
    Effect.timeoutOption(savingMs),
    Effect.ignore
  )
