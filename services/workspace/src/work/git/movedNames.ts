/**
 * Names such as `origin/main` and `v1.0` with which a quality gate compares the work: whoever may write git's folder can have each
 * stand for another commit. A record of what they stood for, in a folder that no command sees, tells which did not stay
 * (docs/design/workspace.md#what-gates-run-on). Of names that were not there before nothing is known.
 */
import { readForeignText, replaceFile } from "@reprise/process"
import { Effect, Schema } from "effect"
import { HostFault } from "../faults.ts"
import { recordCompared } from "./comparedCommits.ts"
import { linesOf } from "./gitOutput.ts"
import { optional, text } from "./runGit.ts"

/** Object names by what git was asked for. */
type Names = ReadonlyMap<string, string>

export interface MovedName {
  readonly name: string
  /** Its ref, in full. */
  readonly ref: string
  readonly before: string
  /** Undefined: nothing any more. */
  readonly now?: string
  /** The ref is where it was, or elsewhere; but the name is that of something else now, which git takes first. */
  readonly isShadowed: boolean
}

export type Moved = MovedName & {
  /**
   * It stands for work that is to be verified, which a gate that compares with it would not see. Of a branch what the work has merged
   * does not count: somebody may have committed on it.
   */
  readonly isWork: boolean
  /** A person was told of it. */
  readonly isTold: boolean
}

const Pairs = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
/**
 * `names`: what they stood for before the run. `told`: refs, and what they stand for since, of which a person was told. `left`: refs
 * that stood for something else when runs ended, and for what.
 */
const Record = Schema.fromJsonString(Schema.Struct({ names: Pairs, told: Pairs, left: Pairs }))
type Record = typeof Record.Type
const decode = Schema.decodeUnknownEffect(Record)
const encode = Schema.encodeSync(Record)

const recordOf = (folder: string) => `${folder}.refs.json`
const leftOf = (folder: string) => `${folder}.left-refs.json`

const largestBytes = 64 * 1024 * 1024

/** Of more, the last ones are not looked at: tags, of which there are the most. */
const mostRefs = 5_000

/** Branches of runs move all the time. */
const isOfRun = (ref: string) => /^refs\/(heads|remotes\/[^/]+)\/reprise\//.test(ref)

/** The ways in which a ref is named; git takes the first file or ref that fits. Pure. */
export const namesOf = (ref: string): ReadonlyArray<string> => {
  const short = ref.replace(/^refs\/(heads|remotes|tags)\//, "")
  const remote = /^refs\/remotes\/(.+)\/HEAD$/.exec(ref)?.[1]
  return [ref, ref.replace(/^refs\//, ""), short, ...(remote === undefined ? [] : [remote])]
}

/** Refs, and short names of theirs, that stood for other objects before: one for each ref. Pure. */
export const movedOf = (before: Names, now: Names): ReadonlyArray<MovedName> =>
  [...before].flatMap(([ref, hash]) => {
    if (!ref.startsWith("refs/")) return []
    const found = now.get(ref)
    const [, , short = ref] = namesOf(ref)
    const shadowed = namesOf(ref).find((name) => {
      const known = before.get(name)
      return known === hash && now.get(name) !== known && now.get(name) !== found
    })
    const name = shadowed ?? short
    const stands = now.get(shadowed ?? ref)
    if (shadowed === undefined && found === hash) return []
    const isShadowed = shadowed !== undefined
    return [{ name, ref, before: hash, ...(stands === undefined ? {} : { now: stands }), isShadowed }]
  })

const resolve = Effect.fnUntraced(function* (directory: string, names: ReadonlyArray<string>) {
  if (names.length === 0) return new Map<string, string>()
  const args = ["cat-file", "--batch-check=%(objectname)"]
  const found = linesOf(yield* text(directory, args, `${names.join("\n")}\n`))
  const isHash = (line: string | undefined): line is string => line !== undefined && /^[0-9a-f]+$/.test(line)
  return new Map(
    names.flatMap((name, at) => {
      const line = found[at]
      return isHash(line) ? [[name, line] as const] : []
    })
  )
})

/** Those first with which gates compare most: of many, the last are left out. Pure. */
export const inOrder = (refs: ReadonlyArray<string>): ReadonlyArray<string> =>
  ["refs/remotes/", "refs/heads/", "refs/tags/"].flatMap((kind) => refs.filter((ref) => ref.startsWith(kind)))

const onDisk = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new HostFault({ operation: "reading the record of branches and tags", cause })
  })

const write = (path: string, record: Record) => onDisk(() => replaceFile(path, encode(record)))

const read = Effect.fnUntraced(function* (path: string) {
  const recorded = yield* onDisk(() => readForeignText(path, { largestBytes, follow: false }))
  return recorded === undefined ? undefined : yield* decode(recorded).pipe(Effect.orElseSucceed(() => undefined))
})

/**
 * Refs that are where an earlier run left them, which may be its author's work that nobody verified, stand for what they stood for
 * before it. Pure.
 */
export const withLeft = (names: Names, { left, names: before, told }: Record): Pick<Record, "names" | "told"> => {
  const known = new Map(before)
  const refs = new Map(left.filter(([ref, now]) => names.get(ref) === now))
  const earlier = [...refs.keys()].flatMap(namesOf).flatMap((name) => {
    const hash = known.get(name)
    return hash === undefined ? [] : [[name, hash] as const]
  })
  return { names: [...new Map([...names, ...earlier])], told: told.filter(([ref, now]) => refs.get(ref) === now) }
}

/**
 * Records what the branches, tags and remote branches of a repository stand for. `folder`: of Reprise's own index of the tree.
 * `root`: the same for the tree in which Reprise keeps its state, where runs left what they had moved.
 */
export const recordNames = Effect.fn("recordNames")(function* (directory: string, folder: string, root: string) {
  const args = ["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags"]
  const refs = linesOf(yield* text(directory, args))
  // The run's own branch moves with its work.
  const own = yield* optional(directory, ["symbolic-ref", "--quiet", "HEAD"])
  const counted = inOrder(refs.filter((ref) => ref !== own && !isOfRun(ref))).slice(0, mostRefs)
  const names = yield* resolve(directory, [...new Set(counted.flatMap(namesOf))])
  // A short name may be that of the run's own branch.
  const ownNames = new Set(own === undefined ? [] : namesOf(own))
  const kept = new Map([...names].filter(([name]) => !ownNames.has(name)))
  const before = yield* read(leftOf(root))
  const standing = before === undefined ? { names: [...kept], told: [] } : withLeft(kept, before)
  yield* write(recordOf(folder), { ...standing, left: [] })
  yield* recordCompared(
    directory,
    folder,
    counted.flatMap((ref) => names.get(ref) ?? [])
  )
})

/** The names that stand for something else than was recorded; without a record: none. The work is what lies between two commits. */
export const movedNames = Effect.fn("movedNames")(function* (
  directory: string,
  folder: string,
  base: string,
  commit: string
) {
  const { names = [], told = [] } = (yield* read(recordOf(folder))) ?? {}
  const before = new Map(names)
  const moved = movedOf(before, yield* resolve(directory, [...before.keys()]))
  if (moved.length === 0) return []
  const hashes = [...new Set(moved.flatMap(({ now }) => (now === undefined ? [] : [now])))]
  const commits = yield* resolve(
    directory,
    hashes.map((hash) => `${hash}^{commit}`)
  )
  const workOf = (...how: ReadonlyArray<string>) =>
    Effect.map(
      text(directory, ["rev-list", ...how, "--end-of-options", `${base}..${commit}`, "--"]),
      (listed) => new Set(linesOf(listed))
    )
  const [all, unmerged] = yield* Effect.all([workOf(), workOf("--first-parent")], { concurrency: 2 })
  const known = new Map(told)
  return moved.map((one): Moved => {
    const work = one.ref.startsWith("refs/heads/") ? unmerged : all
    const isWork = one.now !== undefined && work.has(commits.get(`${one.now}^{commit}`) ?? "")
    return { ...one, isWork, isTold: known.get(one.ref) === (one.now ?? "") }
  })
})

/** When a run ends: records which names its author, or somebody beside it, moved. `folder`, `root`: as above. */
export const recordLeft = Effect.fn("recordLeft")(function* (directory: string, folder: string, root: string) {
  const record = yield* read(recordOf(folder))
  if (record === undefined) return
  const before = new Map(record.names)
  const moved = movedOf(before, yield* resolve(directory, [...before.keys()]))
  const left = moved.flatMap(({ isShadowed, now, ref }) =>
    now === undefined || isShadowed ? [] : [[ref, now] as const]
  )
  if (left.length === 0) return
  const of = new Set(left.flatMap(([ref]) => namesOf(ref)))
  const earlier = (yield* read(leftOf(root))) ?? { names: [], told: [], left: [] }
  const both = (one: Record["names"], other: Record["names"]) => [...new Map([...one, ...other])]
  yield* write(leftOf(root), {
    names: both(
      earlier.names,
      record.names.filter(([name]) => of.has(name))
    ),
    told: both(earlier.told, record.told),
    left: both(earlier.left, left)
  })
})

/** Records that a person was told of some. What they stood for before the run stays recorded. */
export const recordTold = Effect.fn("recordTold")(function* (folder: string, moved: ReadonlyArray<MovedName>) {
  const record = yield* read(recordOf(folder))
  if (record === undefined || moved.length === 0) return
  const told = new Map([...record.told, ...moved.map(({ now = "", ref }) => [ref, now] as const)])
  yield* write(recordOf(folder), { ...record, told: [...told] })
})

/** Has refs stand for what they stood for before the run. Fails where one has moved again. */
export const putBack = Effect.fn("putBack")(function* (directory: string, moved: ReadonlyArray<MovedName>) {
  const lines = moved.map(({ before, now = "0".repeat(before.length), ref }) => `update ${ref} ${before} ${now}\n`)
  yield* text(directory, ["update-ref", "--no-deref", "--stdin"], lines.join(""))
})
