/**
 * Activity in our sessions that Reprise did not start. A human who runs `claude --resume ID` in a terminal shows only in the transcript,
 * which grows, and in Claude's registry: each process writes a file there with its session and whether it is working.
 */
import { join } from "node:path"
import { isAlive, readForeignFolder, readForeignText, startOf } from "@reprise/process"
import { Clock, Effect, Option, Schema } from "effect"
import type { RuntimeEvent } from "../../RuntimeEvent.ts"
import { isConversation } from "../transcript/transcript.ts"
import { isAtRest, newestPrompt } from "../transcript/turnOf.ts"
import type { KnownSession, KnownSessions } from "./KnownSessions.ts"
import { nameOf } from "./SessionRecord.ts"

/** Without a registered process, an unfinished turn counts as running for this long after the transcript last grew. */
const quietMs = 10_000

/** Whether somebody else is working in the session now. */
export const isForeignBusy = (sessions: KnownSessions, known: KnownSession): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { id } = known.record
    const status = yield* Effect.promise(() => foreignStatus(sessions.registry, id, known.live?.process?.pid()))
    if (status !== "absent") return status === "busy"
    return !isAtRest(known.entries) && now - known.foreign.grewAtMs < quietMs
  })

/** Reads new transcript lines and gives the events for them. Nothing while our turn runs: that turn reports. */
export const foreignEvents = (
  sessions: KnownSessions,
  known: KnownSession
): Effect.Effect<ReadonlyArray<RuntimeEvent>> =>
  Effect.gen(function* () {
    const { foreign, record } = known
    if (known.live !== undefined) return []
    const hadTranscript = known.transcript !== undefined
    const seen = yield* Effect.option(sessions.refresh(known))
    // Our turn may have started meanwhile.
    if (Option.isNone(seen) || known.live !== undefined) return []
    if (hadTranscript && known.transcript === undefined && record.begun) {
      return [{ type: "gone" as const, sessionId: record.id }]
    }
    const fresh = known.entries.slice(foreign.reported).filter(isConversation)
    foreign.reported = known.entries.length
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

const Registered = Schema.Struct({
  pid: Schema.Int,
  sessionId: Schema.String,
  procStart: Schema.optional(Schema.String),
  status: Schema.optional(Schema.String)
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Registered))

/** A later process can have the same id: the start time tells them apart. */
const isRunning = async ({ pid, procStart }: typeof Registered.Type): Promise<boolean> => {
  if (!isAlive(pid)) return false
  const start = await startOf(pid)
  return start !== "dead" && (start === "" || procStart === undefined || start === procStart)
}

/**
 * What processes other than ours are doing in a session.
 * @returns `absent`: no process is known; `quiet`: one runs and waits for its user; `busy`: one is working
 */
const foreignStatus = async (
  registry: string,
  sessionId: string,
  ourPid: number | undefined
): Promise<"absent" | "quiet" | "busy"> => {
  const entries = (await readForeignFolder(registry, { mostEntries: 10_000 }).catch(() => undefined)) ?? []
  let status: "absent" | "quiet" | "busy" = "absent"
  for (const { name } of entries) {
    if (!/^\d+\.json$/.test(name)) continue
    const text = await readForeignText(join(registry, name), { largestBytes: 64 * 1024, follow: false }).catch(
      () => undefined
    )
    const found = Option.getOrUndefined(decode(text))
    if (found === undefined || found.sessionId !== sessionId || found.pid === ourPid) continue
    if (!(await isRunning(found))) continue
    if (found.status !== "idle") return "busy"
    status = "quiet"
  }
  return status
}
