/**
 * What this machine keeps about one clone, in a file of the user's folder: nothing that is pushed, and nothing that an
 * agent may write, changes it. It names git's folder too, so that a copy of a clone inherits nothing. In doubt there is
 * nothing in it.
 */
import { chmod, mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readPrivateFile, replaceFile, userConfigFolder } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import type { Clone, IdentifiedClone } from "./cloneId.ts"

export interface Stored<Entry> {
  readonly entries: ReadonlyArray<Entry>
  /** Why there are none although something was stored, for people. */
  readonly trouble?: string
}

interface Kind<Entry> {
  /** Below the user's folder; each clone has a file in it. */
  readonly folder: string
  readonly entry: Schema.Codec<Entry, unknown>
  /** For people: `Nothing is trusted here`. */
  readonly nothing: string
  /** Whether a copy of the clone, or one that was moved, has it as well. Default: no. */
  readonly inherited?: boolean
}

const largestBytes = 4 * 1024 * 1024

const failed = (path: string) => (cause: unknown) =>
  missing(
    "clone-file",
    `${path} cannot be written: ${cause instanceof Error ? cause.message : cause}.`,
    "Your permissions for this machine are stored there: make the folder writable for you, or set XDG_CONFIG_HOME.",
    cause
  )

export const cloneFile = <Entry>({ entry, folder, inherited = false, nothing }: Kind<Entry>) => {
  const fileOf = (cloneId: string) => join(userConfigFolder(process.env), folder, `${cloneId}.json`)
  const decode = Schema.decodeUnknownOption(
    Schema.fromJsonString(
      Schema.Struct({ format: Schema.Literal(1), gitFolder: Schema.String, entries: Schema.Array(entry) })
    )
  )
  const none = (why?: string): Stored<Entry> => ({
    entries: [],
    ...(why === undefined ? {} : { trouble: `${nothing}: ${why}` })
  })

  const read = Effect.fnUntraced(function* ({ gitFolder, id }: Clone) {
    if (id === undefined) return none()
    const path = fileOf(id)
    const text = yield* Effect.tryPromise(() => readPrivateFile(path, largestBytes)).pipe(Effect.option)
    if (Option.isNone(text)) return none(`${path} is not your own file, or others can read or write it.`)
    if (text.value === undefined) return none()
    const stored = decode(text.value)
    if (Option.isNone(stored)) return none(`${path} is damaged.`)
    const { entries, gitFolder: before } = stored.value
    return inherited || before === gitFolder ? { entries } : none(`it was stored for the clone at ${before}.`)
  })

  /** Replaces the entries. Fails with exit code 3. */
  const write = ({ gitFolder, id }: IdentifiedClone, entries: ReadonlyArray<Entry>) =>
    Effect.tryPromise({
      try: async () => {
        const directory = dirname(fileOf(id))
        await mkdir(directory, { recursive: true, mode: 0o700 })
        await chmod(directory, 0o700)
        await replaceFile(fileOf(id), `${JSON.stringify({ format: 1, gitFolder, entries }, null, 2)}\n`)
      },
      catch: failed(fileOf(id))
    })

  const remove = ({ id }: Clone) =>
    id === undefined
      ? Effect.void
      : Effect.tryPromise({ try: () => rm(fileOf(id), { force: true }), catch: failed(fileOf(id)) })

  return { read, write, remove }
}
