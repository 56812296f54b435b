/**
 * What a quality gate compares the work with, as `git diff origin/main...HEAD` does: the commits that names stood for before the run,
 * and those at which the work parted from them. A name may stay while an object behind it is falsified in git's store.
 */
import { falseTrees, memoryOfObjects, readForeignText, replaceFile } from "@reprise/process"
import { Effect, Schema } from "effect"
import { HostFault } from "../faults.ts"
import { linesOf } from "./gitOutput.ts"
import { atTop, attempt, noAnswerOfGits, text } from "./runGit.ts"

const Record = Schema.fromJsonString(Schema.Array(Schema.String))
const decode = Schema.decodeUnknownEffect(Record)

const recordOf = (folder: string) => `${folder}.compared.json`

const largestBytes = 1024 * 1024

/** Of more, nothing behind the names is looked at: for each a git is started when a run begins. */
const mostCompared = 50

const onDisk = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "reading the record of commits that gates compare with", cause })
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

/** The false objects among these commits, `more` (whole hashes), and what they have. */
export const falseCompared = Effect.fn("falseCompared")(function* (
  directory: string,
  folder: string,
  more: ReadonlyArray<string>
) {
  const recorded = yield* onDisk(() => readForeignText(recordOf(folder), { largestBytes, follow: false }))
  const known = recorded === undefined ? [] : yield* decode(recorded).pipe(Effect.orElseSucceed(() => []))
  const commits = [...new Set([...known, ...more])]
  return yield* falseTrees(directory, commits, { ...atTop(), memory: memoryOfObjects(folder) }).pipe(
    Effect.mapError(noAnswerOfGits("rev-list"))
  )
})
