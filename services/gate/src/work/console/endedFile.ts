/** The sessions that ended before their time, in a file of this user's alone, so that they stay ended (docs/console.md#who-gets-in). */
import { readPrivateFile, replaceFile } from "@reprise/process"
import { Effect, Schema } from "effect"
import { allEnded, type EndedSessions, noneEnded } from "../../console/session.ts"

/** By the role of the token. No claim signs anybody in. */
const Ended = Schema.Struct({
  claims: Schema.Array(Schema.String.check(Schema.isPattern(/^\d{1,16}\.[0-9a-f-]{1,64}$/))),
  throughMs: Schema.Finite
})
const Kept = Schema.Struct({ version: Schema.Literal(1), answerer: Ended, viewer: Ended })
type Kept = typeof Kept.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Kept))
const encode = Schema.encodeSync(Schema.fromJsonString(Kept))

/** Two lists of a thousand claims have 110 KB. */
const largestBytes = 512 * 1024

export interface EndedFile {
  /** Those that had ended when the console started. */
  readonly before: Readonly<Record<"answerer" | "viewer", EndedSessions>>
  /** Writes what `now` gives once it is its turn; however many ask, one write waits for its turn. A failure of the disk is a defect. */
  readonly save: (now: () => Omit<Kept, "version">) => Effect.Effect<void>
}

/** `path` absent: they are forgotten with the process. Of a file that cannot be read nobody knows what it says: all sessions end. */
export const openEndedFile = Effect.fn("openEndedFile")(function* (path: string | undefined, nowMs: number) {
  const none = { answerer: noneEnded, viewer: noneEnded }
  if (path === undefined) return { before: none, save: () => Effect.void } satisfies EndedFile
  const before = yield* Effect.tryPromise(async () => {
    const text = await readPrivateFile(path, largestBytes)
    return text === undefined ? none : decode(text)
  }).pipe(
    Effect.catch(({ cause }) =>
      Effect.as(
        Effect.logWarning(
          `${path} cannot be read, so everybody must sign in to the web console again. If this comes again, remove the file.`,
          cause
        ),
        { answerer: allEnded(nowMs), viewer: allEnded(nowMs) }
      )
    )
  )
  let writing: Promise<void> | undefined
  let next: Promise<void> | undefined
  const write = (now: Parameters<EndedFile["save"]>[0]): Promise<void> => {
    writing = replaceFile(path, encode({ version: 1, ...now() })).finally(() => {
      writing = undefined
    })
    return writing
  }
  /** All who come while one is written share the next one, which has what they changed. */
  const saveNow = (now: Parameters<EndedFile["save"]>[0]): Promise<void> => {
    if (writing === undefined) return write(now)
    next ??= writing
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return write(now)
      })
    return next
  }
  const save: EndedFile["save"] = (now) => Effect.promise(() => saveNow(now))
  return { before, save } satisfies EndedFile
})
