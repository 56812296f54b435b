/**
 * Sees what others do in our sessions: a human who runs `claude --resume ID` shows only in the transcript, which grows,
 * and among Claude's own processes (facts: Claude).
 */
import { Clock, Effect, Option } from "effect"
import type { RuntimeEvent } from "../RuntimeEvent.ts"
import { foreignStatus } from "./foreignProcesses.ts"
import type { KnownSession, KnownSessions } from "./KnownSessions.ts"
import { nameOf } from "./SessionRecord.ts"
import { isConversation } from "./transcript.ts"
import { isAtRest, newestPrompt } from "./turnOf.ts"

/** Without a process that says so, an unfinished turn is believed to run for this long after the last line. */
const quietMs = 10_000

/** Whether somebody else is at work in the session now. */
export const isForeignBusy = (sessions: KnownSessions, known: KnownSession): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { id } = known.record
    const status = yield* Effect.promise(() => foreignStatus(sessions.registry, id, known.live?.process?.pid()))
    if (status !== "absent") return status === "busy"
    return !isAtRest(known.entries) && now - known.foreign.grewAtMs < quietMs
  })

/** What there is in the transcript is ours, or told of. */
export const markTold = (known: KnownSession): void => {
  known.foreign.told = known.entries.length
  known.foreign.busy = false
}

/** What has happened in a session since it was last looked at. */
export const lookAt = (sessions: KnownSessions, known: KnownSession): Effect.Effect<ReadonlyArray<RuntimeEvent>> =>
  Effect.gen(function* () {
    const { foreign, record } = known
    if (known.live !== undefined) return []
    const hadTranscript = known.transcript !== undefined
    const seen = yield* Effect.option(sessions.refresh(known))
    // A turn of ours may have begun meanwhile.
    if (Option.isNone(seen) || known.live !== undefined) return []
    if (hadTranscript && known.transcript === undefined && record.begun) {
      return [{ type: "gone" as const, sessionId: record.id }]
    }
    const fresh = known.entries.slice(foreign.told).filter(isConversation)
    foreign.told = known.entries.length
    if (fresh.length === 0 && !foreign.busy) return []
    if (fresh.length > 0) foreign.grewAtMs = yield* Clock.currentTimeMillis
    const prompt = newestPrompt(known.entries)
    const at = { sessionId: record.id, ...(prompt === undefined ? {} : { causePromptId: nameOf(record)(prompt) }) }
    const events: Array<RuntimeEvent> = []
    const last = fresh.at(-1)
    if (last?.kind === "prompt" || last?.kind === "answer" || last?.kind === "result") {
      const evidence = last.kind === "answer" ? (last.toolCalls > 0 ? "tool" : "text") : "status"
      events.push({ type: "working", ...at, evidence })
      foreign.busy = true
    }
    if (foreign.busy && !(yield* isForeignBusy(sessions, known))) {
      foreign.busy = false
      events.push({ type: "idle", ...at })
    }
    return events
  })
