/**
 * What this machine trusts in one clone, as it is stored: in the user's folder, where nothing that is pushed and nothing
 * that an agent may write can grant anything. In doubt nothing is trusted.
 */
import { chmod, mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readPrivateFile, replaceFile, userConfigFolder } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { type IdentifiedClone, identifyClone, readClone } from "../project/cloneId.ts"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"

/** The content of one setting, or of one file, that a human has trusted. */
export const TrustEntry = Schema.Struct({
  /** The setting, or `file`. */
  what: Schema.String,
  /** The file that it was read from. */
  from: Schema.String,
  digest: Schema.String,
  /** For people. */
  values: Schema.Array(Schema.String),
  trustedAt: Schema.String
})
export type TrustEntry = typeof TrustEntry.Type

const Trust = Schema.fromJsonString(
  Schema.Struct({ format: Schema.Literal(1), gitFolder: Schema.String, entries: Schema.Array(TrustEntry) })
)
const decodeTrust = Schema.decodeUnknownOption(Trust)

const largestBytes = 4 * 1024 * 1024

const fileOf = (cloneId: string) => join(userConfigFolder(process.env), "trust", `${cloneId}.json`)

export interface StoredTrust {
  readonly entries: ReadonlyArray<TrustEntry>
  /** Why nothing is trusted although something was stored, for people. */
  readonly trouble?: string
}

const nothing = (trouble?: string): StoredTrust => ({ entries: [], ...(trouble === undefined ? {} : { trouble }) })

/** What is trusted in the clone of a project. Fails only when git does. */
export const readTrust = Effect.fn("readTrust")(function* (project: Project) {
  const { gitFolder, id } = yield* readClone(project)
  if (id === undefined) return nothing()
  const path = fileOf(id)
  const text = yield* Effect.tryPromise(() => readPrivateFile(path, largestBytes)).pipe(Effect.option)
  if (Option.isNone(text)) {
    return nothing(`Nothing is trusted here: ${path} is not a file of yours that only you can read and write.`)
  }
  if (text.value === undefined) return nothing()
  const trust = decodeTrust(text.value)
  if (Option.isNone(trust)) return nothing(`Nothing is trusted here: ${path} is damaged.`)
  if (trust.value.gitFolder !== gitFolder) {
    return nothing(`Nothing is trusted here: what is trusted in this clone was trusted at ${trust.value.gitFolder}.`)
  }
  return { entries: trust.value.entries } satisfies StoredTrust
})

const failed = (path: string) => (cause: unknown) =>
  missing(
    "trust-file",
    `${path} cannot be written: ${cause instanceof Error ? cause.message : cause}.`,
    "What you trust is kept there: make the folder writable for you, or set XDG_CONFIG_HOME.",
    cause
  )

const write = ({ gitFolder, id }: IdentifiedClone, entries: ReadonlyArray<TrustEntry>) =>
  Effect.tryPromise({
    try: async () => {
      const folder = dirname(fileOf(id))
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await chmod(folder, 0o700)
      await replaceFile(fileOf(id), `${JSON.stringify({ format: 1, gitFolder, entries }, null, 2)}\n`)
    },
    catch: failed(fileOf(id))
  })

/** Replaces what is trusted in the clone of a project. Fails with exit code 3. */
export const writeTrust = (project: Project, entries: ReadonlyArray<TrustEntry>) =>
  Effect.flatMap(identifyClone(project), (clone) => write(clone, entries))

/** Forgets all that is trusted in the clone of a project. */
export const removeTrust = Effect.fn("removeTrust")(function* (project: Project) {
  const { id } = yield* readClone(project)
  if (id === undefined) return
  yield* Effect.tryPromise({ try: () => rm(fileOf(id), { force: true }), catch: failed(fileOf(id)) })
})
