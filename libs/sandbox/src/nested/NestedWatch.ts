/**
 * Puts aside repositories with a configuration of their own that commands have made in a workspace. What was there before an
 * agent worked in it is the user's: it stays as long as it says the same.
 */
import { createHash } from "node:crypto"
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { hasCode, readForeignFolder, readForeignText, replaceFile } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { findPaths } from "../disk/findPaths.ts"
import { inItsFolder } from "../disk/pinnedFolder.ts"
import { putAside } from "../disk/putAside.ts"
import { makeConfigurationReader } from "./configurationReader.ts"
import {
  digestAnywhere,
  isBareRepository,
  type LookLimits,
  type NestedRepository,
  nestedRepositories
} from "./nestedRepositories.ts"
import type { Place } from "./treeSearch.ts"
import { makeTurns } from "./turns.ts"

/** What is kept of a workspace. `open`: agents may have worked in it in a process that was killed. */
const Kept = Schema.fromJsonString(
  Schema.Struct({ open: Schema.Boolean, known: Schema.Record(Schema.String, Schema.String) })
)
const decode = Schema.decodeUnknownOption(Kept)
const encode = Schema.encodeSync(Kept)

type Known = Readonly<Record<string, string>>

const keyOf = ({ paths }: NestedRepository): string =>
  paths.map((path) => (typeof path === "string" ? path : path.toString("latin1"))).join("\n")

const knownOf = (found: ReadonlyArray<NestedRepository>): Known =>
  Object.fromEntries(found.map((one) => [keyOf(one), one.digest]))

/** The paths of as many repositories as a workspace may have. */
const largestBytes = 64 * 1024 * 1024

const mostSaid = 5

const mostShown = 300

const shown = (path: string | Buffer): string => {
  const text = String(path)
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text
}

/** For people and agents. */
export const sentenceOf = ({ paths, says }: NestedRepository): string => {
  const more = says.length > mostSaid ? ` and ${says.length - mostSaid} more` : ""
  return `${paths.map(shown).join(", ")} was moved to .reprise/sandbox/refused: programs outside of the sandbox would obey what it says (${says.slice(0, mostSaid).join(", ")}${more}).`
}

/** A few sentences, however many repositories there were. Pure. */
export const sentencesOf = (made: ReadonlyArray<NestedRepository>): ReadonlyArray<string> => {
  const left = made.length - mostSaid
  return [...made.slice(0, mostSaid).map(sentenceOf), ...(left > 0 ? [`So were ${left} more repositories.`] : [])]
}

/** There may be more repositories than those that were moved. */
export class NotAllLookedAt extends Schema.TaggedError<NotAllLookedAt>()("NotAllLookedAt", {
  fault: Schema.Defect(),
  moved: Schema.Array(Schema.String)
}) {
  override get message() {
    return [this.fault instanceof Error ? this.fault.message : String(this.fault), ...this.moved].join(" ")
  }
}

const mostRefused = 1_000_000

const unlessGone = (error: unknown) => (hasCode(error, "ENOENT", "ENOTDIR") ? undefined : Promise.reject(error))

/**
 * People are sent to the folder of refused files to look: without a `HEAD`, git takes none there for a repository. A link that was
 * moved there leads to somebody else's repository.
 */
const disarm = async (refused: string): Promise<void> => {
  const folder = await realpath(refused)
  for (const entry of (await readForeignFolder(folder, { mostEntries: mostRefused })) ?? []) {
    if (!entry.name.endsWith("-.git") || !entry.isDirectory()) continue
    const head = join(folder, entry.name, "HEAD")
    await inItsFolder(head, (pinned) => rename(pinned, `${String(pinned)}.refused`)).catch(unlessGone)
  }
}

/** The same for all below a folder, however long their paths are. */
const disarmBelow = (folder: string, { search }: Place) =>
  findPaths([folder, "-iname", "HEAD", "-type", "f", "-delete"], { mostBytes: 0, search })

type MadeFrom = Effect.Effect<Place | undefined, unknown>

const nowhere: MadeFrom = Effect.succeed(undefined)

export interface NestedWatch {
  /**
   * Puts aside what commands have made in a workspace since its first call, and says so in a few sentences. Fails where the
   * tree cannot be searched. `lookAgain`: gives the place as it is then; it is run for each look, also the last one. `madeFrom`: the
   * user's own tree, where Reprise made this one of a commit, which may be an agent's.
   */
  readonly check: (
    workspace: string,
    lookAgain: Effect.Effect<Place, unknown>,
    madeFrom?: MadeFrom
  ) => Effect.Effect<ReadonlyArray<string>, unknown>
  /**
   * A file with the paths of what such repositories depend on under names that are none of git's, a line each: when something there
   * changes, somebody has to look again. Missing or empty: nothing.
   */
  readonly dependenciesFile: (workspace: string) => string
  /** A file that was written when the last look at a workspace began that saw all. */
  readonly lookedFile: (workspace: string) => string
}

/** Until the scope closes. `folder`: where Reprise alone keeps what was known. `refused`: where repositories are moved. `limits`: for tests. */
export const makeNestedWatch = Effect.fnUntraced(function* (folder: string, refused: string, limits: LookLimits = {}) {
  const settingsIn = makeConfigurationReader()
  const inTurn = makeTurns()
  const watched = new Map<string, { readonly lookAgain: Effect.Effect<Place, unknown>; readonly known: Known }>()
  const dependenciesKept = new Map<string, string>()
  const fileOf = (workspace: string) =>
    join(folder, `${createHash("sha256").update(workspace).digest("hex").slice(0, 16)}.json`)
  const keep = (workspace: string, open: boolean, known: Known) =>
    Effect.tryPromise(() => replaceFile(fileOf(workspace), encode({ open, known })))

  const dependenciesFile = (workspace: string) => `${fileOf(workspace)}.dependencies`
  const keepDependencies = (workspace: string, dependencies: ReadonlySet<string>) => {
    const paths = [...dependencies].toSorted()
    // By lines a name with a line break cannot be told.
    const text = paths.some((path) => path.includes("\n"))
      ? `${workspace}\n`
      : paths.map((path) => `${path}\n`).join("")
    if (dependenciesKept.get(workspace) === text) return Effect.void
    dependenciesKept.set(workspace, text)
    return Effect.tryPromise(() => replaceFile(dependenciesFile(workspace), text))
  }

  const lookedFile = (workspace: string) => `${fileOf(workspace)}.looked`
  /** The file system's own time. Another process may look meanwhile. */
  const beginLook = (workspace: string) => {
    const begun = `${lookedFile(workspace)}-${process.pid}`
    return Effect.acquireRelease(
      Effect.tryPromise(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(begun, "")
        return Effect.tryPromise(() => rename(begun, lookedFile(workspace)))
      }),
      () => Effect.promise(() => rm(begun, { force: true }))
    )
  }

  /** What was known of a workspace in which agents work, or worked when their process was killed. */
  const keptOf = Effect.fnUntraced(function* (workspace: string) {
    const text = yield* Effect.tryPromise(() => readForeignText(fileOf(workspace), { largestBytes, follow: false }))
    const kept = Option.getOrUndefined(decode(text ?? ""))
    return kept?.open === true ? kept.known : undefined
  })

  /** Those that are not part of an agent's commit: what the user's own tree has at the same place. */
  const ofUser = Effect.fnUntraced(function* (
    workspace: string,
    found: ReadonlyArray<NestedRepository>,
    madeFrom: MadeFrom
  ) {
    const origin = found.some(isBareRepository) ? yield* madeFrom : undefined
    if (origin === undefined) return found
    const known = yield* keptOf(origin.workspace)
    const there = (yield* nestedRepositories(origin, settingsIn, limits)).found
    const theirs = there.filter((one) => known === undefined || known[keyOf(one)] === one.digest)
    const digests = new Set(theirs.map((one) => digestAnywhere(one, origin.workspace)))
    return found.filter((one) => !isBareRepository(one) || digests.has(digestAnywhere(one, workspace)))
  })

  /** What is there when nobody has worked in the workspace is the user's. */
  const begin = Effect.fnUntraced(function* (
    workspace: string,
    found: ReadonlyArray<NestedRepository>,
    madeFrom: MadeFrom
  ) {
    const known = (yield* keptOf(workspace)) ?? knownOf(yield* ofUser(workspace, found, madeFrom))
    yield* keep(workspace, true, known)
    return known
  })

  const checkNow = Effect.fnUntraced(function* (
    workspace: string,
    lookAgain: Effect.Effect<Place, unknown>,
    madeFrom: MadeFrom
  ) {
    const markLooked = yield* beginLook(workspace)
    const place = yield* lookAgain
    const { dependencies, fault, found } = yield* nestedRepositories(place, settingsIn, limits)
    const before = watched.get(workspace)?.known
    // What is the user's nobody knows then.
    if (before === undefined && fault !== undefined) return yield* fault
    const known = before ?? (yield* begin(workspace, found, madeFrom))
    yield* keepDependencies(workspace, dependencies)
    watched.set(workspace, { lookAgain, known })
    const made = found.filter((one) => one.isUnseen === true || known[keyOf(one)] !== one.digest)
    // One whose folder a command swaps meanwhile does not keep the others.
    const moves = made.flatMap(({ isAbove, paths }) =>
      paths.map((path) =>
        Effect.tryPromise(() => putAside(path, refused)).pipe(
          Effect.tap((moved) => (isAbove === true ? disarmBelow(moved, place) : Effect.void))
        )
      )
    )
    const ends = yield* Effect.all(moves, { mode: "result" })
    if (made.length > 0) yield* Effect.tryPromise(() => disarm(refused))
    yield* Effect.forEach(ends, (end) => Effect.fromResult(end), { discard: true })
    if (fault !== undefined) return yield* new NotAllLookedAt({ fault, moved: sentencesOf(made) })
    yield* markLooked
    return sentencesOf(made)
  }, Effect.scoped)
  const check: NestedWatch["check"] = (workspace, lookAgain, madeFrom = nowhere) =>
    inTurn(workspace)(checkNow(workspace, lookAgain, madeFrom))

  yield* Effect.addFinalizer(() =>
    Effect.forEach(
      watched,
      ([workspace, { known, lookAgain }]) =>
        Effect.ignore(Effect.andThen(check(workspace, lookAgain), keep(workspace, false, known))),
      { discard: true }
    )
  )
  return { check, dependenciesFile, lookedFile } satisfies NestedWatch
})
