/**
 * Fetches what a command committed in its clone into the repository. The clone's side of it runs in the sandbox; this side takes
 * what comes as from a server of somebody else: git checks each object by its name and its form, and that nothing is missing.
 */
import type { ProgramFailed } from "@reprise/process"
import { Effect } from "effect"
import { quoted } from "../command/shellWords.ts"
import { CloneRefused, gitIn, type Here, insistIn } from "./cloneGit.ts"
import { branchIn, type Head } from "./heads.ts"

const settings = [
  "transfer.fsckObjects=true",
  // Some tools write these, and git itself works with them.
  "fetch.fsck.zeroPaddedFilemode=warn",
  "fetch.fsck.missingSpaceBeforeDate=warn",
  "fetch.writeCommitGraph=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "core.logAllRefUpdates=false"
]

export interface Fetching extends Here {
  /** Where git in the sandbox finds the clone of the directory. */
  readonly seen: string
  /** A program that runs git in the sandbox (`gitInside`). */
  readonly inSandbox: string
}

/** The commit of a name; empty: there is none. */
const commitOf = (fetching: Here, name: string) =>
  Effect.map(
    gitIn(fetching, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]),
    ({ stdout }) => stdout.trim()
  )

/** What git itself says of a repository. */
export const headOf = Effect.fnUntraced(function* (fetching: Here): Effect.fn.Return<Head, ProgramFailed> {
  const { stdout } = yield* gitIn(fetching, ["symbolic-ref", "--quiet", "HEAD"])
  const commit = yield* commitOf(fetching, "HEAD")
  return { head: stdout === "" ? commit : `ref: ${stdout.trim()}`, commit }
})

/** One of each working tree. */
const fetchedRef = "refs/worktree/reprise-clone"

/** The commit that the clone is at, with all that belongs to it. Fails with what git said. */
const fetchHead = Effect.fnUntraced(function* (fetching: Fetching) {
  const program = `/bin/sh ${quoted(fetching.inSandbox)} upload-pack`
  const words = [
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules"
  ]
  yield* insistIn(fetching, [...words, `--upload-pack=${program}`, fetching.seen, `+HEAD:${fetchedRef}`], settings)
  return yield* commitOf(fetching, fetchedRef)
})

/** Whoever works on it there would find it moved. */
const requireNowhereElse = Effect.fnUntraced(function* (fetching: Fetching, branch: string) {
  const { stdout } = yield* gitIn(fetching, ["for-each-ref", "--format=%(worktreepath)", branch])
  const tree = stdout.trim()
  if (tree === "" || tree === fetching.workspace) return
  const reason = `${branch} is checked out in ${tree}. Go back to the branch of this run.`
  return yield* new CloneRefused({ directory: fetching.directory, reason })
})

const isAncestor = (fetching: Fetching, old: string, young: string) =>
  Effect.map(gitIn(fetching, ["merge-base", "--is-ancestor", old, young]), ({ exitCode }) => exitCode === 0)

/** The branch, or the detached `HEAD`, goes to the fetched commit if it is still where it was. */
const move = (fetching: Fetching, branch: string | undefined, from: string, to: string) => {
  const deref = branch === undefined ? ["--no-deref"] : []
  const old = from === "" ? "0".repeat(to.length) : from
  return insistIn(fetching, ["update-ref", ...deref, branch ?? "HEAD", to, old])
}

/** The files are the agent's already; the index follows, with what somebody staged besides. */
const followIndex = Effect.fnUntraced(function* (fetching: Fetching, from: string, to: string) {
  const trees = from === "" ? [[to]] : [[from, to], [to]]
  for (const some of trees) {
    const { exitCode } = yield* gitIn(fetching, ["read-tree", "-i", "-m", ...some])
    if (exitCode === 0) return
  }
})

/**
 * Takes what a clone has committed into the repository: the commits, the branch that it is on, and the index. Gives what both are at by
 * then. `said`: what the clone says; `last`: what both had in common. Fails with `CloneRefused`, and changes nothing then.
 */
export const fetchClone = Effect.fn("Sandbox.fetchClone")(function* (fetching: Fetching, said: Head, last: Head) {
  const commit = yield* fetchHead(fetching)
  const own = yield* headOf(fetching)
  const branch = branchIn(said.head)
  const isSame = said.head === own.head || (branch === undefined && branchIn(own.head) === undefined)
  if (branch !== undefined && !isSame) yield* requireNowhereElse(fetching, branch)
  const current = branch === undefined || isSame ? own.commit : yield* commitOf(fetching, branch)
  const isAsItWas = said.head === last.head && current === last.commit
  if (!isAsItWas && current !== "" && !(yield* isAncestor(fetching, current, commit))) {
    const reason = `${branch ?? "HEAD"} is at ${current} by now, which ${commit} does not follow. Run 'git reset ${current}', which leaves the files as they are, and commit the work again.`
    return yield* new CloneRefused({ directory: fetching.directory, reason })
  }
  if (commit !== current) yield* move(fetching, branch, current, commit)
  if (!isSame && branch !== undefined) yield* gitIn(fetching, ["symbolic-ref", "HEAD", branch])
  // Whoever was ended between these two has moved the branch already.
  yield* followIndex(fetching, own.commit === commit ? last.commit : own.commit, commit)
  yield* gitIn(fetching, ["update-ref", "-d", fetchedRef])
  return { head: branch === undefined ? commit : said.head, commit }
})
