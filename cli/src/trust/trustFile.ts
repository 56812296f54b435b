/** What this machine trusts in one clone, as it is stored. In doubt nothing is trusted. */
import { Effect, Schema } from "effect"
import { cloneFile } from "../project/cloneFile.ts"
import { identifyClone, readClone } from "../project/cloneId.ts"
import type { Project } from "../project/Project.ts"

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

const file = cloneFile({ folder: "trust", entry: TrustEntry, nothing: "Nothing is trusted here" })

/** What is trusted in the clone of a project. Fails only when git does. */
export const readTrust = (project: Project) => Effect.flatMap(readClone(project), file.read)

/** Replaces what is trusted in the clone of a project. Fails with exit code 3. */
export const writeTrust = (project: Project, entries: ReadonlyArray<TrustEntry>) =>
  Effect.flatMap(identifyClone(project), (clone) => file.write(clone, entries))

/** Forgets all that is trusted in the clone of a project. */
export const removeTrust = (project: Project) => Effect.flatMap(readClone(project), file.remove)
