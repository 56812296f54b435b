/** Commits by the names that agents give them: looked up in git only after their form was checked. */
import { Effect } from "effect"
import { Git } from "./Git.ts"
import type { GitObject } from "./gitOutput.ts"

const hash = /^[0-9a-fA-F]{4,64}$/

/**
 * Whether a text is a hash, whole or short. Options, ranges and names such as HEAD, which mean another commit a moment
 * later, never reach git (docs/design/workspace.md#workspace).
 */
export const isCommitName = (text: string): boolean => hash.test(text)

/** An agent's text as part of a sentence: one line, printable, short. */
export const quoted = (text: string): string => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be hidden
  const plain = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, "?")
  return `'${plain.length > 80 ? `${plain.slice(0, 79)}…` : plain}'`
}

/** The full hash of the commit that `name` stands for. A branch whose name looks like a hash does not count. */
const hashOf = (name: string, object: GitObject | undefined): string | undefined =>
  object?._tag === "Found" && object.type === "commit" && object.hash.startsWith(name.toLowerCase())
    ? object.hash
    : undefined

/** The subject lines of commits, by their full hashes. Names that stand for no commit are left out. */
export const commitSubjects = Effect.fn("commitSubjects")(function* (directory: string, names: ReadonlyArray<string>) {
  const git = yield* Git
  const objects = yield* git.describe(directory, [...new Set(names)].filter(isCommitName))
  const hashes = objects.flatMap((object) => (object._tag === "Found" && object.type === "commit" ? [object.hash] : []))
  return yield* git.subjects(directory, [...new Set(hashes)])
})

/** The full hash of each named commit that is reachable from HEAD, by its name. Two processes, however many names. */
export const reachableCommits = Effect.fnUntraced(function* (
  directory: string,
  head: string | undefined,
  names: ReadonlyArray<string>
) {
  if (head === undefined) return new Map<string, string>()
  const git = yield* Git
  const asked = [...new Set(names)].filter(isCommitName)
  const objects = yield* git.describe(directory, asked)
  const found = asked.flatMap((name, index) => {
    const commit = hashOf(name, objects[index])
    return commit === undefined ? [] : [[name, commit] as const]
  })
  const unreachable = yield* git.unreachable(directory, [...new Set(found.map(([, commit]) => commit))])
  return new Map(found.filter(([, commit]) => !unreachable.has(commit)))
})

/**
 * After the history was rewritten: the newest commit that HEAD shares with `base`, from which work can still be
 * counted. Undefined when `base` is still reachable from HEAD, or nothing is shared.
 */
export const rewrittenBase = Effect.fn("rewrittenBase")(function* (directory: string, base: string) {
  const git = yield* Git
  const head = yield* git.head(directory)
  if (head === undefined || !isCommitName(base)) return undefined
  const [object] = yield* git.describe(directory, [base])
  if (object?._tag !== "Found" || object.type !== "commit") return undefined
  const shared = yield* git.mergeBase(directory, object.hash, head)
  return shared === object.hash ? undefined : shared
})
