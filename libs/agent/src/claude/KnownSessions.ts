/** The sessions of this host that were asked for since this process began, and how each of them stands. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { addTokens, type Tokens } from "@reprise/protocol"
import { Effect, Option, Semaphore } from "effect"
import { ClaudeStateFault } from "./ClaudeUnavailable.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import { readRecord, type SessionRecord, writeRecord } from "./SessionRecord.ts"
import { findTranscript, subagentPaths, TranscriptFile } from "./TranscriptFile.ts"
import { type Entry, tokensIn } from "./transcript.ts"

/** What somebody else than us does in a session, as the transcript tells. */
export interface ForeignActivity {
  /** How many entries have been told of. */
  told: number
  busy: boolean
  cause: string | undefined
  grewAtMs: number
}

export class KnownSession {
  record: SessionRecord
  transcript: TranscriptFile | undefined
  live: LiveTurn | undefined
  readonly foreign: ForeignActivity = { told: 0, busy: false, cause: undefined, grewAtMs: 0 }
  readonly subagents = new Map<string, TranscriptFile>()

  constructor(record: SessionRecord) {
    this.record = record
  }

  get entries(): ReadonlyArray<Entry> {
    return this.transcript?.entries ?? []
  }
}

export class KnownSessions {
  readonly #stateDirectory: string
  readonly #configDirectory: string
  readonly #known = new Map<string, KnownSession>()
  readonly #changing = Semaphore.makeUnsafe(1)

  constructor(stateDirectory: string, configDirectory: string) {
    this.#stateDirectory = stateDirectory
    this.#configDirectory = configDirectory
  }

  get all(): Iterable<KnownSession> {
    return this.#known.values()
  }

  /** None for a session that is not ours. */
  find(id: string): Effect.Effect<Option.Option<KnownSession>, ClaudeStateFault> {
    return Effect.gen({ self: this }, function* () {
      const known = this.#known.get(id)
      if (known !== undefined) {
        yield* this.refresh(known)
        return Option.some(known)
      }
      const record = yield* readRecord(this.#stateDirectory, id)
      if (Option.isNone(record)) return Option.none()
      const found = new KnownSession(record.value)
      yield* this.refresh(found)
      // Somebody may have found it meanwhile; what was before is no news.
      const first = this.#known.get(id) ?? found
      if (first === found) {
        found.foreign.told = found.entries.length
        this.#known.set(id, found)
      }
      return Option.some(first)
    })
  }

  /** Writes a new session's record down, then goes by it. */
  save(record: SessionRecord): Effect.Effect<KnownSession, ClaudeStateFault> {
    return Effect.map(writeRecord(this.#stateDirectory, record), () => {
      const known = this.#known.get(record.id) ?? new KnownSession(record)
      known.record = record
      this.#known.set(record.id, known)
      return known
    })
  }

  /** One change after the other: each is made to what the one before it left. */
  update(known: KnownSession, change: (record: SessionRecord) => SessionRecord): Effect.Effect<void, ClaudeStateFault> {
    return this.#changing.withPermits(1)(Effect.suspend(() => Effect.asVoid(this.save(change(known.record)))))
  }

  /** Reads what is new in the transcript. Writes nothing: only who runs a turn does. */
  refresh(known: KnownSession): Effect.Effect<void, ClaudeStateFault> {
    return Effect.gen({ self: this }, function* () {
      const { id } = known.record
      yield* Effect.tryPromise({
        try: async () => {
          if (known.transcript === undefined) {
            const path = await findTranscript(this.#configDirectory, id)
            if (path !== undefined) known.transcript = new TranscriptFile(path)
          }
          if (known.transcript !== undefined && !(await known.transcript.refresh())) known.transcript = undefined
        },
        catch: (cause) => new ClaudeStateFault({ operation: "Reading a transcript", cause })
      })
    })
  }

  /** A transcript without a conversation can neither be resumed nor begun (measured): it is taken away. */
  dropEmpty(known: KnownSession): Effect.Effect<void, ClaudeStateFault> {
    return Effect.tryPromise({
      try: async () => {
        if (known.transcript !== undefined) await rm(known.transcript.path, { force: true })
        known.transcript = undefined
      },
      catch: (cause) => new ClaudeStateFault({ operation: "Removing an empty transcript", cause })
    })
  }

  /** What a session's subagents used between two moments. */
  subagentTokens(known: KnownSession, fromMs: number, untilMs: number): Effect.Effect<Tokens> {
    return Effect.promise(async () => {
      const path = known.transcript?.path
      const paths = path === undefined ? [] : await subagentPaths(path)
      const entries: Array<Entry> = []
      for (const it of paths) {
        const file = known.subagents.get(it) ?? new TranscriptFile(it)
        known.subagents.set(it, file)
        await file.refresh()
        entries.push(...file.entries.filter((entry) => entry.kind === "answer"))
      }
      return tokensIn(
        entries.filter((entry) => entry.kind === "answer" && entry.atMs >= fromMs && entry.atMs < untilMs)
      )
    })
  }

  /** Everything that a session has used. */
  allTokens(known: KnownSession): Effect.Effect<Tokens> {
    return Effect.map(this.subagentTokens(known, 0, Number.POSITIVE_INFINITY), (tokens) =>
      addTokens(tokensIn(known.entries), tokens)
    )
  }

  /** Where Claude's processes write down that they run. */
  get registry(): string {
    return join(this.#configDirectory, "sessions")
  }
}
