/**
 * Fetches what a command committed in its clone into the repository. The clone's side of it runs in the sandbox; this side takes
 * what comes as from a server of somebody else: git checks each object by its name and its form, and that nothing is missing.
 */
import type { ProgramFailed } from "@reprise/process"
import { Effect } from "effect"
import { quoted } from "../command/shellWords.ts"
import { CloneRefused, gitIn, type Here, insistIn } from "./cloneGit.ts"
import { branchIn, type Head } from "./heads.ts"
import { throughIncoming } from "./incoming.ts"

const settings = [
  "transfer.fsckObjects=true",
  // Some tools write these, and git itself works with them.
  "fetch.fsck.zeroPaddedFilemode=warn",
  "fetch.fsck.missingSpaceBeforeDate=warn",
  // With its check, git's fetch-pack ends with a fault where it keeps a pack.
  "fetch.unpackLimit=0"
]

export interface Fetching extends Here {
  /** Where git in the sandbox finds the clone of the directory. */
  readonly seen: string
  /** Where the repository has its objects. */
  readonly objects: string
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

/**
 * The commit that the clone is at, with all that belongs to it. No ref of the repository changes. Fails with what git said; then no object
 * is there either.
 */
const fetchHead = (fetching: Fetching) =>
  throughIncoming(
    fetching.objects,
    Effect.fnUntraced(function* (incoming) {
      const program = `/bin/sh ${quoted(fetching.inSandbox)} upload-pack`
      const args = ["fetch-pack", "--quiet", "--no-progress", `--upload-pack=${program}`, fetching.seen, "HEAD"]
      const fetched = yield* insistIn(fetching, args, { settings, objects: incoming })
      const commit = /^([0-9a-f]{40,64}) HEAD\n?$/.exec(fetched)?.[1] ?? ""
      if (commit === "")
        return yield* new CloneRefused({ directory: fetching.directory, reason: "It is at no commit." })
      const whole = ["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"]
      yield* insistIn(fetching, whole, { settings, objects: incoming, input: `${commit}\n` })
      return commit
    })
  )

const short = (branch: string) => branch.replace("refs/heads/", "")

/** git would take it for something else than a branch, or a shell for a command. */
const isOdd = (name: string) =>
  !/^[A-Za-z0-9_][A-Za-z0-9._/+@-]*$/.test(name) ||
  /^[0-9a-f]{4,64}$/i.test(name) ||
  /(^|\/)[A-Z_]*HEAD$/.test(name) ||
  /^(refs|heads|tags|remotes|worktrees|bisect|stash)(\/|$)/.test(name)

/**
 * An author works on a branch that it was on before, or on a new one. Whoever works on another would find it moved, and a new one must
 * hide nothing that has its name.
 */
const requireOwnBranch = Effect.fnUntraced(function* (fetching: Fetching, branch: string, been: ReadonlyArray<string>) {
  const refuse = (reason: string) => new CloneRefused({ directory: fetching.directory, reason })
  const back = "Go back to the branch of this run, and commit there."
  if (been.includes(branch)) {
    const { stdout } = yield* gitIn(fetching, ["for-each-ref", "--format=%(worktreepath)", branch])
    const tree = stdout.trim()
    if (tree !== "" && tree !== fetching.workspace) return yield* refuse(`${branch} is checked out in ${tree}. ${back}`)
    return
  }
  if ((yield* commitOf(fetching, branch)) !== "")
    return yield* refuse(`${branch} is another branch of the repository. ${back}`)
  const name = short(branch)
  const { exitCode } = yield* gitIn(fetching, ["rev-parse", "--verify", "--quiet", "--end-of-options", name])
  const remotes = (yield* gitIn(fetching, ["remote"])).stdout.split("\n").filter((one) => one !== "")
  // Another working tree may be on a branch that has no commit yet.
  const trees = (yield* gitIn(fetching, ["worktree", "list", "--porcelain"])).stdout.split("\n")
  const isOfRemote = remotes.some((remote) => name === remote || name.startsWith(`${remote}/`))
  if (exitCode === 0 || isOfRemote || trees.includes(`branch ${branch}`) || isOdd(name))
    return yield* refuse(
      `${name} is odd, or the name of something else in the repository. Give the branch another name.`
    )
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
  const been = last.branches ?? [branchIn(last.head) ?? "", branchIn(own.head) ?? ""]
  const isSame = said.head === own.head || (branch === undefined && branchIn(own.head) === undefined)
  if (branch !== undefined && !isSame) yield* requireOwnBranch(fetching, branch, been)
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
  const branches = [...new Set([...been, branch ?? ""])].filter((name) => name !== "")
  return { head: branch === undefined ? commit : said.head, commit, branches }
})
