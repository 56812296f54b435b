import { Effect } from "effect"
import { isCommitName } from "./domain/commitHash.ts"
import { Git } from "./Git.ts"

/** The subject lines of commits that agents named, by their whole hashes. What is no commit is left out. */
export const commitSubjects = Effect.fn("commitSubjects")(function* (directory: string, names: ReadonlyArray<string>) {
  const git = yield* Git
  const objects = yield* git.describe(directory, [...new Set(names)].filter(isCommitName))
  const hashes = objects.flatMap((object) => (object._tag === "Found" && object.type === "commit" ? [object.hash] : []))
  return yield* git.subjects(directory, [...new Set(hashes)])
})
