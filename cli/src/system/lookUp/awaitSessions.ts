/**
 * Before a program that hosts a run ends, it lets the run's sessions finish what they still do: their runtime ends with
 * it. And it lets the channels be told of the question for which it ends.
 */
import { Messenger } from "@reprise/actor"
import type { EscalationId, RunId, SessionView } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { allSessions, awaitsArchive, awaitsSaving } from "./lookUp.ts"

/** Waits until no session of the run does this any more, but not longer than that. */
const untilNoSession = (runId: RunId, does: (session: SessionView) => boolean, withinMs: number) =>
  allSessions.pipe(
    Effect.repeat({
      while: (sessions) => sessions.some((session) => session.runId === runId && does(session)),
      schedule: Schedule.spaced("50 millis")
    }),
    Effect.timeoutOption(withinMs),
    Effect.ignore
  )

/** What is not saved within this time is saved by the next program that serves the sessions. */
const savingMs = 5_000

export const untilSaved = (runId: RunId) => untilNoSession(runId, awaitsSaving, savingMs)

export const untilArchived = (runId: RunId, withinMs: number) => untilNoSession(runId, awaitsArchive, withinMs)

/** What a paused run has used is known when what was interrupted has ended: a turn, or a review with its session. */
export const untilInterrupted = (runId: RunId, withinMs: number) =>
  untilNoSession(runId, (session) => session.turnId !== undefined || awaitsArchive(session), withinMs)

/** Whom it does not reach within this time, the next program that serves the gate tells. */
const notifyingMs = 15_000

/** Waits until every channel for notifications is told of the question, but not longer than that. */
export const untilNotified = (question: EscalationId) =>
  Messenger.use((messenger) => messenger.show.gate(question)).pipe(
    Effect.repeat({
      while: ({ notNotified, state }) => state === "open" && notNotified !== undefined,
      schedule: Schedule.spaced("50 millis")
    }),
    Effect.timeoutOption(notifyingMs),
    Effect.ignore
  )
