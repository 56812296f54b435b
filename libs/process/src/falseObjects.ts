/**
 * Objects of git that do not hold what their names say. git takes the content of an object as it lies there, in a file or in a
 * pack: whoever may write its folder can have a commit show another content than the one that its name stands for.
 */
import { createHash, type Hash } from "node:crypto"
import { Effect } from "effect"
import { replaceFile } from "./files.ts"
import { onDisk, refused } from "./ownIndex.ts"
import { isSettled, nothingProven, readClock, readProven, recall, remembered, writeProven } from "./provenObjects.ts"
import { type GitOptions, objectNotFetched, runGit, untilBlocked } from "./runGit.ts"
import type { ProgramFailed, ProgramOutput } from "./runProgram.ts"
import {
  gitOfStore,
  type LooseCopy,
  looseCopies,
  looseLinks,
  objectFolders,
  type PackSource,
  packSources
} from "./storedCopies.ts"

/** As git names what is not there. */
const isZero = (hash: string) => /^0*$/.test(hash)

const newline = 0x0a

/** More of it is no header. */
const longestHeader = 1024

interface Reading {
  readonly hash: Hash
  left: number
}

/**
 * Reads what `git cat-file --batch` writes for some objects, in their order, whatever the pieces it comes in. `proven` are those
 * whose content has their name as its hash, `differing` those whose
 * content has not, `missing` those that git says are not there.
 */
export const readObjects = (asked: ReadonlyArray<string>) => {
  const proven = new Set<string>()
  const differing = new Set<string>()
  const missing = new Set<string>()
  let at = 0
  let header = ""
  let reading: Reading | undefined
  /** After the content of an object git ends the line. */
  let endsLine = false

  const begin = () => {
    const [name = "", type = "", size = ""] = header.split(" ")
    header = ""
    if (name !== asked[at] || !/^\d+$/.test(size)) {
      if (name === asked[at] && type === "missing") missing.add(name)
      at += 1
      return
    }
    const hash = createHash(name.length === 64 ? "sha256" : "sha1").update(`${type} ${size}\0`)
    reading = { hash, left: Number(size) }
  }
  const finish = ({ hash }: Reading) => {
    const name = asked[at] ?? ""
    const names = hash.digest("hex") === name ? proven : differing
    names.add(name)
    at += 1
    reading = undefined
    endsLine = true
  }

  const take = (piece: Buffer): void => {
    let from = 0
    while (from < piece.length || reading?.left === 0) {
      if (reading !== undefined) {
        const part = piece.subarray(from, from + reading.left)
        reading.hash.update(part)
        reading.left -= part.length
        from += part.length
        if (reading.left === 0) finish(reading)
        else return
      } else if (endsLine) {
        from += 1
        endsLine = false
      } else {
        const end = piece.indexOf(newline, from)
        header += piece.toString("latin1", from, end === -1 ? undefined : end).slice(0, longestHeader)
        if (end === -1) return
        from = end + 1
        begin()
      }
    }
  }
  return { take, proven, differing, missing }
}

/** Objects may be many and large: a repository with years of work in one phase. */
const timeoutMs = 10 * 60_000

/** Of all of them: a pack of a few kilobytes can hold objects that unfold to more than any disk has. */
const largestOutputBytes = 16 * 1024 ** 3

/** The lines of git's output that are names of objects. */
const hashesOf = (output: string) => output.split("\n").filter((line) => /^[0-9a-f]+$/.test(line))

const batch = ["cat-file", "--batch", "--buffer"]

const inputOf = (hashes: ReadonlyArray<string>) => hashes.map((hash) => `${hash}\n`).join("")

/** What git reads of some objects from the files alone that some links lead to. */
const readFrom = Effect.fnUntraced(function* (
  directory: string,
  links: PackSource["links"],
  asked: ReadonlyArray<string>,
  options: GitOptions
) {
  const [first] = asked
  const { missing, proven, take } = readObjects(asked)
  if (first !== undefined) {
    const how = { timeoutMs, largestOutputBytes, ...options, input: inputOf(asked), take }
    // It sees the repository by links, so what it may wait for is looked for where it is.
    yield* gitOfStore(links, first, batch, how).pipe(Effect.raceFirst(untilBlocked(directory)))
  }
  return { missing, proven, wrong: asked.filter((hash) => !proven.has(hash) && !missing.has(hash)) }
})

/** gits that only look are asked at the same time, as far as there are processors. */
const atOnce = { concurrency: 4 }

export interface FalseObjects {
  /** Those of which a copy in git's store holds something else, or cannot be read. */
  readonly wrong: ReadonlyArray<string>
  /** Those of which there is no copy that can be read. */
  readonly missing: ReadonlyArray<string>
}

export interface ObjectOptions extends GitOptions {
  /** A file in a folder that no command can write, where what was found is remembered. Absent: all is hashed. */
  readonly memory?: string | undefined
}

/**
 * Which of some objects (whole hashes) do not hold what their names say, in any of the copies that git's store has of them: it
 * reads now this one, now that one.
 */
export const falseObjects = Effect.fn("falseObjects")(function* (
  directory: string,
  hashes: Iterable<string>,
  { memory, ...options }: ObjectOptions = {}
): Effect.fn.Return<FalseObjects, ProgramFailed> {
  const asked = [...new Set(hashes)].filter((hash) => !isZero(hash))
  if (asked.length === 0) return { wrong: [], missing: [] }
  const isAsked = new Set(asked)
  const folders = yield* objectFolders(directory, options)
  // Before anything is read: what changes meanwhile is newer.
  const clock = memory === undefined ? undefined : yield* onDisk(() => readClock(memory))
  const text = memory === undefined ? undefined : yield* onDisk(() => recall(memory))
  const before = readProven(clock?.tellsChanges === true ? text : undefined)
  const packs = (yield* Effect.forEach(folders, (folder) => onDisk(() => packSources(folder)))).flat()
  const ids = new Set(packs.map(({ id }) => id))
  // An object may have been in a pack that is gone, and be somewhere else now.
  const known = [...before.sources].every((id) => ids.has(id)) ? before : nothingProven
  const isKnown = (hash: string) => known.packed.has(hash) || known.loose.has(hash)
  const unknown = asked.filter((hash) => !isKnown(hash))

  const wrong = new Set<string>()
  const right = new Set(asked.filter((hash) => known.packed.has(hash)))
  const packed = new Set(right)
  const sources = new Set<string>()
  yield* Effect.forEach(
    packs,
    Effect.fnUntraced(function* (pack) {
      const read = yield* readFrom(directory, pack.links, known.sources.has(pack.id) ? unknown : asked, options)
      const isKept = clock !== undefined && isSettled(clock, pack)
      if (isKept) sources.add(pack.id)
      for (const hash of read.wrong) wrong.add(hash)
      for (const hash of read.proven) {
        right.add(hash)
        if (isKept) packed.add(hash)
      }
    }),
    atOnce
  )

  const loose = new Map<string, ReadonlyArray<string>>()
  const keep = ({ changedMs, device, hash, state }: LooseCopy) => {
    right.add(hash)
    if (clock !== undefined && isSettled(clock, { changedMs, devices: [device] }))
      loose.set(hash, [...(loose.get(hash) ?? []), state])
  }
  for (const folder of folders) {
    const copies = yield* onDisk(() => looseCopies(folder, isAsked))
    const changed = copies.filter(({ hash, state }) => known.loose.get(hash)?.includes(state) !== true)
    const readable = changed.flatMap(({ hash, isFile }) => (isFile ? [hash] : []))
    const read = yield* readFrom(directory, looseLinks(folder, readable), readable, options)
    const isChanged = new Set(changed)
    for (const copy of copies) {
      if (!isChanged.has(copy) || read.proven.has(copy.hash)) keep(copy)
      else wrong.add(copy.hash)
    }
  }

  // Such as an object that git packed meanwhile.
  const left = asked.filter((hash) => !right.has(hash) && !wrong.has(hash))
  const again = readObjects(left)
  if (left.length > 0) {
    const how = { timeoutMs, largestOutputBytes, ...options, input: inputOf(left), take: again.take }
    yield* runGit(directory, batch, how)
  }
  for (const hash of again.differing) wrong.add(hash)
  if (memory !== undefined) {
    const isRight = (hash: string) => !wrong.has(hash)
    const found = {
      sources,
      packed: new Set([...packed].filter(isRight)),
      loose: new Map([...loose].filter(([hash]) => isRight(hash)))
    }
    const kept = writeProven(remembered(known, found))
    if (kept !== text) yield* onDisk(() => replaceFile(memory, kept))
  }
  return {
    wrong: asked.filter((hash) => wrong.has(hash)),
    missing: left.filter((hash) => !again.proven.has(hash) && !wrong.has(hash))
  }
})

/**
 * Which of some commits (whole hashes) and of all that they have do not hold what their names say. What is missing below a commit, as
 * in a partial clone, is not looked for.
 */
export const falseObjectsIn = Effect.fn("falseObjectsIn")(function* (
  directory: string,
  commits: ReadonlyArray<string>,
  { memory, ...options }: ObjectOptions = {}
): Effect.fn.Return<FalseObjects, ProgramFailed> {
  if (commits.length === 0) return { wrong: [], missing: [] }
  const kinds = ["--objects", "--no-object-names", "--missing=allow-any"]
  const input = commits.map((hash) => `${hash}\n`).join("")
  const listed = yield* runGit(directory, ["rev-list", "--no-walk", ...kinds, "--stdin"], { ...options, input })
  const found = yield* falseObjects(directory, [...commits, ...hashesOf(listed.stdout)], { ...options, memory })
  if (found.wrong.length + found.missing.length === 0 && listed.exitCode !== 0)
    return yield* refused("rev-list", listed)
  return found
})

/** The same, as sentences say it. */
export const falseTrees = (
  directory: string,
  commits: ReadonlyArray<string>,
  options: ObjectOptions = {}
): Effect.Effect<ReadonlyArray<Falsehood>, ProgramFailed> =>
  Effect.map(falseObjectsIn(directory, commits, options), ({ missing, wrong }) =>
    [...wrong, ...missing].map(asFalsehood)
  )

/** Names of objects in the records of `git diff-tree --raw -z`, those of submodules left out. */
export const objectsInDiff = (raw: string): ReadonlyArray<string> =>
  raw.split("\0").flatMap((field) => {
    const [, oldMode, newMode, oldHash, newHash] = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*$/.exec(field) ?? []
    const found = [
      { mode: oldMode, hash: oldHash },
      { mode: newMode, hash: newHash }
    ]
    return found.flatMap(({ hash, mode }) => (hash === undefined || mode === "160000" ? [] : [hash]))
  })

/** What is false, and the predicate of a sentence about it. */
export interface Falsehood {
  readonly path: string
  readonly why: string
}

const falseContent = "does not hold what its name says"

export const asFalsehood = (hash: string): Falsehood => ({ path: `git's object ${hash}`, why: falseContent })

/** Whether it is said of an object, and not of a file. */
export const isFalsehood = ({ path, why }: { readonly path: string; readonly why?: string }): boolean =>
  path.startsWith("git's object ") && why === falseContent

const namesObject = /\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b/

/** Which of some objects, of which one at least cannot be read, a partial clone has not fetched; undefined: none. */
const notFetchedOf = Effect.fnUntraced(function* (
  directory: string,
  hashes: ReadonlyArray<string>,
  options: GitOptions
) {
  const input = hashes.map((hash) => `${hash}\n`).join("")
  const { stderr } = yield* runGit(directory, ["cat-file", "--batch-check", "--buffer"], { ...options, input })
  return objectNotFetched(stderr)
})

const asMissing = (hash: string): Falsehood => ({
  path: `git's object ${hash}`,
  why: "is missing from this partial clone: 'git fetch --refetch --no-filter REMOTE' gets it"
})

/** Of commits that are the same one nothing is asked. */
const nothing: ProgramOutput = { exitCode: 0, stdout: "", stderr: "" }

const together = { concurrency: "unbounded" } as const

/** A file in which git keeps what it once read of the commits; it believes what stands there. */
const graph: Falsehood = { path: "git's objects/info/commit-graph", why: "does not say what the commits hold" }

export interface BetweenOptions extends ObjectOptions {
  /** Gates, reviewers and authors have no commit-graph, so before they read the work theirs need not be asked. Default: it is. */
  readonly graph?: "unread" | undefined
}

/**
 * What deceives whoever reads the work between two commits (hashes) with git: false objects among the commits and what they change,
 * before and after, and a commit-graph that tells of other commits. What they leave as it was is not looked at here.
 */
export const falsehoodsBetween = Effect.fn("falsehoodsBetween")(function* (
  directory: string,
  base: string,
  commit: string,
  { graph: read, memory, ...options }: BetweenOptions = {}
): Effect.fn.Return<ReadonlyArray<Falsehood>, ProgramFailed> {
  const range = ["--end-of-options", `${base}..${commit}`]
  const diff = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options", base, commit]
  const ends = [...new Set([base, commit])].flatMap((one) => [`${one}^{commit}`, `${one}^{tree}`])
  const questions = base === commit ? [] : [["rev-list", "--objects", "--no-object-names", ...range], diff]
  const asked = yield* Effect.forEach(
    [["rev-parse", ...ends], ...questions],
    (args) => runGit(directory, args, options),
    together
  )
  const [named = nothing, walked = nothing, differing = nothing] = asked
  // Of a name that stands for nothing git repeats the name.
  const hashes = [named, walked].flatMap(({ stdout }) => hashesOf(stdout))
  const objects = yield* falseObjects(directory, [...hashes, ...objectsInDiff(differing.stdout)], {
    ...options,
    memory
  })
  const found = [...objects.wrong, ...objects.missing]
  if (found.length > 0) {
    const missing = yield* notFetchedOf(directory, found, options)
    return missing === undefined ? found.map(asFalsehood) : [asMissing(missing)]
  }
  for (const [operation, done] of Object.entries({ "rev-list": walked, "diff-tree": differing, "rev-parse": named })) {
    if (done.exitCode === 0) continue
    const missing = objectNotFetched(done.stderr)
    if (missing !== undefined) return [asMissing(missing)]
    // One that git cannot walk through is false, or leads to one that is missing; else git does not work.
    return namesObject.test(done.stderr) ? [asFalsehood(commit)] : yield* refused(operation, done)
  }
  if (base === commit || read === "unread") return []
  const told = (believing: boolean) => {
    const believe = ["-c", `core.commitGraph=${believing}`]
    const shown = ["--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", "-z"]
    const list = [...believe, "log", ...shown, "--diff-merges=separate", "--format=%H %P", ...range]
    const trees = [...believe, "diff", ...shown, "--end-of-options", base, commit, "--"]
    return [list, trees].map((args) => {
      const hash = createHash("sha256")
      const take = (piece: Buffer) => void hash.update(piece)
      return Effect.map(
        runGit(directory, args, { ...options, take }),
        ({ exitCode }) => `${exitCode} ${hash.digest("hex")}`
      )
    })
  }
  const both = [Effect.all(told(false), together), Effect.all(told(true), together)] as const
  const [one, other] = yield* Effect.all(both, together)
  return one.every((text, at) => text === other[at]) ? [] : [graph]
})
