/**
 * What a quality gate compares the work with, as `git diff origin/main...HEAD` does: the commits that names stood for before the run,
 * and those at which the work parted from them. A name may stay while an object behind it is falsified in git's store.
 */
import { existsSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { join } from "node:path"
import { falseObjectsIn, falseTrees, memoryOfObjects, readForeignText, replaceFile } from "@reprise/process"
import { putAside } from "@reprise/sandbox"
import { Effect, Schema } from "effect"
import { HostFault } from "../faults.ts"
import { linesOf } from "./gitOutput.ts"
import { atTop, attempt, line, noAnswerOfGits, text } from "./runGit.ts"

const Record = Schema.fromJsonString(Schema.Array(Schema.String))
const decode = Schema.decodeUnknownEffect(Record)

const recordOf = (folder: string) => `${folder}.compared.json`

const largestBytes = 1024 * 1024

/** Of more, nothing behind the names is looked at: for each a git is started when a run begins. */
const mostCompared = 50

const onDisk = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "looking at the commits that gates compare with", cause })
  })

/** More than one where both have merged the other. On a branch without a commit there is none. */
const partedAt = (directory: string, commit: string) =>
  Effect.map(attempt(directory, ["merge-base", "--all", "--end-of-options", "HEAD", commit]), ({ exitCode, stdout }) =>
    exitCode === 0 ? linesOf(stdout) : []
  )

/** `objects`: what names stand for (whole hashes), those first that are compared with most. `folder`: as for the names. */
export const recordCompared = Effect.fn("recordCompared")(function* (
  directory: string,
  folder: string,
  objects: ReadonlyArray<string>
) {
  const asked = [...new Set(objects)].map((hash) => `${hash}^{commit}`)
  const args = ["cat-file", "--batch-check=%(objectname)"]
  const found = asked.length === 0 ? [] : linesOf(yield* text(directory, args, `${asked.join("\n")}\n`))
  const commits = [...new Set(found.filter((line) => /^[0-9a-f]+$/.test(line)))].slice(0, mostCompared)
  const parted = yield* Effect.forEach(commits, (commit) => partedAt(directory, commit), { concurrency: 4 })
  const compared = [...new Set([...commits, ...parted.flat()])]
  yield* onDisk(() => replaceFile(recordOf(folder), JSON.stringify(compared)))
})

const comparedIn = Effect.fnUntraced(function* (folder: string, more: ReadonlyArray<string> = []) {
  const recorded = yield* onDisk(() => readForeignText(recordOf(folder), { largestBytes, follow: false }))
  const known = recorded === undefined ? [] : yield* decode(recorded).pipe(Effect.orElseSucceed(() => []))
  return [...new Set([...known, ...more])]
})

/** The false objects among these commits, `more` (whole hashes), and what they have. */
export const falseCompared = Effect.fn("falseCompared")(function* (
  directory: string,
  folder: string,
  more: ReadonlyArray<string>
) {
  const commits = yield* comparedIn(folder, more)
  return yield* falseTrees(directory, commits, { ...atTop(), memory: memoryOfObjects(folder) }).pipe(
    Effect.mapError(noAnswerOfGits("rev-list"))
  )
})

const next =
  "'git fetch --refetch REMOTE' gets the right one from a remote that has it; 'git fsck --full' tells what is missing."

/**
 * When a run ends, however it does: moves the files of those false objects to `refused`, so that no checkout of the user's unpacks
 * one, such as the hook of another branch, and says so.
 */
export const putAsideFalse = Effect.fn("putAsideFalse")(function* (directory: string, folder: string, refused: string) {
  const commits = yield* comparedIn(folder)
  const { wrong } = yield* falseObjectsIn(directory, commits, { ...atTop(), memory: memoryOfObjects(folder) }).pipe(
    Effect.mapError(noAnswerOfGits("rev-list"))
  )
  if (wrong.length === 0) return
  const args = ["rev-parse", "--path-format=absolute", "--git-path", "objects"]
  const store = yield* Effect.flatMap(line(directory, args), (path) => onDisk(() => realpath(path)))
  for (const hash of wrong) {
    const path = join(store, hash.slice(0, 2), hash.slice(2))
    const isMoved = existsSync(path)
    if (isMoved) yield* onDisk(() => putAside(path, refused))
    const where = isMoved
      ? "It was moved to .reprise/sandbox/refused."
      : "It is in a pack: check out nothing that has it."
    yield* Effect.logWarning(`git's object ${hash} does not hold what its name says. ${where} ${next}`)
  }
})
