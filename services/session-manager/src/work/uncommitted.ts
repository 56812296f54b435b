/**
 * What is not committed where a fresh author begins, as git tells at that moment
 * (docs/design/continuation.md#checkpoints-and-the-continuation-protocol). Git is asked, not the record of anybody's work.
 */
import {
  type Change,
  ForeignFileRefused,
  faultOf,
  isOwnFile,
  type ProgramFailed,
  runGit,
  withoutRuntimeChanges,
  workingTreeChanges
} from "@reprise/process"
import { Context, Effect } from "effect"
import { gitOfSession } from "./gitOfSession.ts"

/** Lines added to and removed from a file since the last commit; absent: nobody can tell, as of a binary file. */
interface Counted {
  readonly added: number
  readonly removed: number
}

const longestPath = 160
const listed = 50

/** Letters, digits and what is common in names. */
const plain = /^[\p{L}\p{N}._/@+=~-]+$/u

/** As it is where that cannot be misread, else in quotes, with everything invisible as its number. */
export const shownPath = (path: string): string => {
  const characters = [...path]
  const cut = characters.length > longestPath ? `${characters.slice(0, longestPath - 1).join("")}…` : path
  if (plain.test(path)) return cut
  const escaped = cut
    .replaceAll(/["\\`]/g, "\\$&")
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
  return `"${escaped}"`
}

/** The records of `git diff --numstat -z --no-renames`. */
const readCounts = (output: string): ReadonlyMap<string, Counted> =>
  new Map(
    output.split("\0").flatMap((record): ReadonlyArray<readonly [string, Counted]> => {
      const [added = "", removed = "", ...path] = record.split("\t")
      return /^\d+$/.test(added) && /^\d+$/.test(removed)
        ? [[path.join("\t"), { added: Number(added), removed: Number(removed) }]]
        : []
    })
  )

const countText = (counted: Counted | undefined): string =>
  counted === undefined ? "" : ` (+${counted.added} -${counted.removed})`

const many = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`

/** A sentence with the sums, then a line for each path, up to a limit. */
export const changesText = (changes: ReadonlyArray<Change>, counts: ReadonlyMap<string, Counted>): string => {
  const untracked = changes.filter(({ code }) => code === "??").length
  const sums = [...counts.values()].reduce(
    (sum, { added, removed }) => ({ added: sum.added + added, removed: sum.removed + removed }),
    { added: 0, removed: 0 }
  )
  const changed = changes.length - untracked
  const parts = [
    ...(changed === 0 ? [] : [`${many(changed, "changed file")} (+${sums.added} -${sums.removed} lines)`]),
    ...(untracked === 0 ? [] : [`${untracked} untracked`])
  ]
  const lines = changes
    .slice(0, listed)
    .map(({ code, path }) => `> ${code.trim()} ${shownPath(path)}${countText(counts.get(path))}`)
  const left = changes.length - lines.length
  return [
    `${parts.join(", ")}:`,
    ...lines,
    ...(left > 0 ? [`- and ${left} more: \`git status\` lists them`] : [])
  ].join("\n")
}

const options = () => gitOfSession(30_000)

const diff = ["diff", "--numstat", "-z", "--no-renames", "--no-relative", "HEAD", "--"]

/** The phase's review is committed when the phase is approved. In a new directory git lists it only when asked for more. */
const withoutReview = Effect.fnUntraced(function* (
  directory: string,
  changes: ReadonlyArray<Change>,
  reviewPath: string | undefined
) {
  const above = changes.find(({ path }) => path.endsWith("/") && reviewPath?.startsWith(path))
  if (above === undefined) return changes.filter(({ path }) => path !== reviewPath)
  const listed = yield* workingTreeChanges(
    directory,
    { untracked: "all", renames: false, below: above.path },
    options()
  )
  const inside = listed._tag === "failed" ? [above] : listed.changes.filter(({ path }) => path !== reviewPath)
  return changes.flatMap((change) => (change === above ? inside : [change]))
})

const readChanges = Effect.fnUntraced(function* (directory: string, reviewPath: string | undefined) {
  if (directory === "") return undefined
  const found = yield* workingTreeChanges(directory, { untracked: "normal", renames: false }, options())
  // Not a git repository: only a standalone session works outside of one.
  if (found._tag === "failed") return undefined
  const all = (yield* withoutReview(directory, found.changes, reviewPath)).filter((change) => !isOwnFile(change))
  const changes = yield* withoutRuntimeChanges(directory, all, options())
  if (changes.length === 0) return undefined
  const diffed = yield* runGit(directory, diff, options())
  const counts = diffed.exitCode === 0 ? readCounts(diffed.stdout) : new Map<string, Counted>()
  const paths = new Set(changes.map(({ path }) => path))
  return changesText(changes, new Map([...counts].filter(([path]) => paths.has(path))))
})

const notListed = "Git did not answer in time, so they are not listed here: `git status` lists them, if there are any."

const notListedBecause = ({ cause, reason }: ProgramFailed): string | undefined => {
  if (cause instanceof ForeignFileRefused) return `Git cannot say: ${shownPath(cause.path)} ${cause.what}. Remove it.`
  return reason === "timeout" || faultOf(reason) === "tree" ? notListed : undefined
}

/** For a prompt; undefined: nothing is uncommitted, or there is no git. Where git is too slow, the author is told to look. */
export const uncommittedChanges = (directory: string, reviewPath?: string): Effect.Effect<string | undefined> =>
  readChanges(directory, reviewPath).pipe(
    Effect.catch((error: ProgramFailed) =>
      Effect.as(
        Effect.logInfo(`git did not tell what is uncommitted in ${directory}: ${error.message}`),
        notListedBecause(error)
      )
    )
  )

/** Says what is uncommitted in a directory. A service, so that a simulation can answer for its own files. */
export const UncommittedChanges = Context.Reference<typeof uncommittedChanges>(
  "@reprise/session-manager/UncommittedChanges",
  { defaultValue: () => uncommittedChanges }
)
