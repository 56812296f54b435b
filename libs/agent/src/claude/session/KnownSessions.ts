/** The sessions that were used since this process started, each with its record, its transcript and its running turn. */
import { realpath, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { replaceFile } from "@reprise/process"
import type { Tokens, Usage } from "@reprise/protocol"
import { Effect, Option, Semaphore } from "effect"
import { ClaudeStateFault } from "../sdk/ClaudeSdk.ts"
import { projectFolder, textThrough } from "../transcript/copy.ts"
import { findTranscript, subagentPaths, TranscriptFile } from "../transcript/TranscriptFile.ts"
import { callsIn, type Entry, tokensIn } from "../transcript/transcript.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import { readRecord, type SessionRecord, writeRecord } from "./SessionRecord.ts"

/** Activity of somebody else in a session, as its transcript shows it. */
export interface ForeignActivity {
  /** How many transcript entries have been reported as events, or need no report because they are ours. */
  reported: number
  busy: boolean
  cause: string | undefined
  grewAtMs: number
}

export class KnownSession {
  record: SessionRecord
  transcript: TranscriptFile | undefined
  live: LiveTurn | undefined
  readonly foreign: ForeignActivity = { reported: 0, busy: false, cause: undefined, grewAtMs: 0 }
  readonly subagents = new Map<string, TranscriptFile>()

  constructor(record: SessionRecord) {
    this.record = record
  }

  get entries(): ReadonlyArray<Entry> {
    return this.transcript?.entries ?? []
  }

  /** From now on, only entries that are added later count as somebody else's. */
  markReported(): void {
    this.foreign.reported = this.entries.length
    this.foreign.busy = false
  }
}

const copying = <A>(copy: () => Promise<A>) =>
  Effect.tryPromise({
    try: copy,
    catch: (cause) => new ClaudeStateFault({ operation: "Copying a transcript", cause })
  })

/** Whole lines only: the last one may be half written. */
const textOf = async (
  transcript: TranscriptFile,
  { id, prompts }: SessionRecord,
  through: string | undefined
): Promise<string> => {
  const text = await transcript.text()
  const whole = text.slice(0, text.lastIndexOf("\n") + 1)
  if (through === undefined) return whole
  const uuids = prompts.find(({ messageId }) => messageId === through)?.uuids ?? [through]
  const kept = textThrough(whole, new Set(uuids))
  if (kept === undefined) throw new Error(`Session ${id} of Claude has no prompt ${through}.`)
  return kept
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

  /** None for a session that Reprise did not make. */
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
      // Another caller may have found it meanwhile. Existing entries need no events.
      const first = this.#known.get(id) ?? found
      if (first === found) {
        found.markReported()
        this.#known.set(id, found)
      }
      return Option.some(first)
    })
  }

  /** Writes the record to disk, then uses it. */
  save(record: SessionRecord): Effect.Effect<KnownSession, ClaudeStateFault> {
    return Effect.map(writeRecord(this.#stateDirectory, record), () => {
      const known = this.#known.get(record.id) ?? new KnownSession(record)
      known.record = record
      this.#known.set(record.id, known)
      return known
    })
  }

  /** Changes a record; concurrent changes are applied one after the other. */
  update(known: KnownSession, change: (record: SessionRecord) => SessionRecord): Effect.Effect<void, ClaudeStateFault> {
    return this.#changing.withPermits(1)(Effect.suspend(() => Effect.asVoid(this.save(change(known.record)))))
  }

  /** Reads new transcript lines. */
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

  /** Deletes a transcript without a conversation, which Claude can neither resume nor start over (measured). */
  dropEmpty(known: KnownSession): Effect.Effect<void, ClaudeStateFault> {
    return Effect.tryPromise({
      try: async () => {
        if (known.transcript !== undefined) await rm(known.transcript.path, { force: true })
        known.transcript = undefined
      },
      catch: (cause) => new ClaudeStateFault({ operation: "Removing an empty transcript", cause })
    })
  }

  /**
   * Copies the conversation to another session: Claude's transcript and our record. The SDK's own copy would look for the
   * transcript in our environment instead of Claude's; every line of a transcript names its session.
   */
  fork(
    { record, transcript }: KnownSession,
    {
      through,
      ...own
    }: Pick<SessionRecord, "id" | "directory" | "title" | "permissions"> & { readonly through?: string }
  ): Effect.Effect<void, ClaudeStateFault> {
    return Effect.gen({ self: this }, function* () {
      const text = transcript === undefined ? "" : yield* copying(() => textOf(transcript, record, through))
      const prompts = record.prompts.filter(({ uuids }) => uuids.some((uuid) => text.includes(uuid)))
      if (transcript !== undefined) {
        yield* copying(async () => {
          const folder = await this.#folderOf(transcript, record.directory, own.directory)
          await replaceFile(join(folder, `${own.id}.jsonl`), text.replaceAll(record.id, own.id))
        })
      }
      const forked = yield* this.save({ ...record, ...own, prompts })
      yield* this.refresh(forked)
      forked.markReported()
    })
  }

  /** Where Claude looks for the transcripts of a directory. */
  async #folderOf(original: TranscriptFile, before: string, directory: string): Promise<string> {
    if (directory === before) return dirname(original.path)
    const folder = projectFolder(await realpath(directory))
    if (folder === undefined) throw new Error(`The path ${directory} is too long.`)
    return join(this.#configDirectory, "projects", folder)
  }

  /** Answers that the session's subagents gave in a period. */
  private subagentAnswers(known: KnownSession, fromMs = 0, untilMs = Number.POSITIVE_INFINITY) {
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
      return entries.filter((entry) => entry.kind === "answer" && entry.atMs >= fromMs && entry.atMs < untilMs)
    })
  }

  /** Tokens that the session's subagents used in a period. */
  subagentTokens(known: KnownSession, fromMs: number, untilMs: number): Effect.Effect<Tokens> {
    return Effect.map(this.subagentAnswers(known, fromMs, untilMs), tokensIn)
  }

  /** What the session and its subagents have used. */
  usage(known: KnownSession): Effect.Effect<Pick<Usage, "tokens" | "calls">> {
    return Effect.map(this.subagentAnswers(known), (ofSubagents) => {
      const answers = [...known.entries, ...ofSubagents]
      return { tokens: tokensIn(answers), calls: callsIn(answers) }
    })
  }

  /** The directory in which Claude's processes register themselves. */
  get registry(): string {
    return join(this.#configDirectory, "sessions")
  }
}
