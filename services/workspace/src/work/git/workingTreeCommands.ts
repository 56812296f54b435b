/** The git commands for the working tree and its worktrees. */
import { dirname, join, resolve } from "node:path"
import {
  addedUnlisted,
  commitFile,
  type Difference,
  differencesFromCommit,
  isOwnFile,
  putAsideLocks,
  recordUntrackedInstructions,
  stateFolder,
  unfinishedWork,
  withoutRuntimeChanges,
  workingTreeChanges
} from "@reprise/process"
import { otherFiltersOf, removeWorkingTree } from "@reprise/sandbox"
import { Effect, Semaphore } from "effect"
import { GitFault, HostFault, noAnswer } from "../faults.ts"
import { removeEmptyFolders } from "../files/removeEmptyFolders.ts"
import { approved, recordApproved } from "./approvedRecord.ts"
import type { WorkingTreeCommands } from "./Git.ts"
import { readWorktrees } from "./gitOutput.ts"
import { atTop, attempt, line, noAnswerOfGits, optional, text, topLevel } from "./runGit.ts"

const dirty: WorkingTreeCommands["dirty"] = Effect.fnUntraced(function* (directory, untracked) {
  const request = { untracked: untracked === "each" ? "all" : "normal" } as const
  const found = yield* workingTreeChanges(directory, request, atTop()).pipe(Effect.mapError(noAnswer("status")))
  if (found._tag === "failed") {
    return yield* new GitFault({ operation: "status", exitCode: found.exitCode, stderr: found.stderr })
  }
  const changes = yield* withoutRuntimeChanges(directory, found.changes, atTop()).pipe(
    Effect.mapError(noAnswer("cat-file"))
  )
  return changes.filter((change) => !isOwnFile(change)).map(({ path }) => path)
})

const unseen = "is not as the commit has it, which git status shows after 'git read-tree HEAD'"

/** Whoever is told of a change and sees none is told why. */
const explained = Effect.fnUntraced(function* (directory: string, found: ReadonlyArray<Difference>) {
  if (found.every(({ why }) => why !== undefined)) return found
  const seen = yield* workingTreeChanges(directory, { untracked: "all" }, atTop()).pipe(
    Effect.mapError(noAnswer("status"))
  )
  if (seen._tag === "failed") return found
  const paths = new Set(seen.changes.map(({ path }) => path))
  return found.map(({ path, why }): Difference => {
    if (why !== undefined) return { path, why }
    return paths.has(path) ? { path } : { path, why: unseen }
  })
})

const differences: WorkingTreeCommands["differences"] = Effect.fnUntraced(function* (directory, folder, when) {
  const head = yield* optional(directory, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
  if (head === undefined) return (yield* dirty(directory, "each")).map((path): Difference => ({ path }))
  const gitDirectory = yield* line(directory, ["rev-parse", "--absolute-git-dir"])
  const removeEmpty = (folders: ReadonlyArray<string>) => removeEmptyFolders(directory, folders)
  const request = { folder, gitDirectory, removeEmpty, when }
  const found = yield* differencesFromCommit(directory, head, request, atTop()).pipe(
    Effect.mapError(noAnswerOfGits("status"))
  )
  // OpenCode changes a file of its own, which git status shows.
  const shown = found.flatMap(({ path, why }) => (why === undefined ? [{ code: " M", path }] : []))
  const counted = yield* withoutRuntimeChanges(directory, shown, atTop()).pipe(Effect.mapError(noAnswer("cat-file")))
  const others = new Set(counted.map(({ path }) => path))
  const changes = found.filter(({ path, why }) => why !== undefined || others.has(path))
  const waiting = when === "after" ? yield* unfinishedWork(gitDirectory) : []
  return [...waiting, ...(yield* explained(directory, changes))]
})

const addedUnseen: WorkingTreeCommands["addedUnseen"] = Effect.fnUntraced(function* (directory, folder) {
  const head = yield* optional(directory, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
  if (head === undefined) return []
  return yield* addedUnlisted(directory, head, folder, atTop()).pipe(Effect.mapError(noAnswerOfGits("ls-tree")))
})

/** A container may have no user configured: then Reprise commits under its own name. */
const identity = Effect.fnUntraced(function* (directory: string) {
  const email = yield* optional(directory, ["config", "user.email"])
  return email === undefined || email === "" ? ["user.name=Reprise", "user.email=reprise@localhost"] : []
})

const commitOneFile: WorkingTreeCommands["commitFile"] = Effect.fnUntraced(function* (directory, folder, file) {
  const request = { ...file, folder, identity: yield* identity(directory) }
  return yield* commitFile(directory, request, atTop()).pipe(Effect.scoped, Effect.mapError(noAnswerOfGits("commit")))
})

const branchHead: WorkingTreeCommands["branchHead"] = (directory, name) =>
  optional(directory, ["rev-parse", "--verify", "--quiet", "--end-of-options", `refs/heads/${name}`])

/** Those of this working tree, and of what all working trees of a repository share. */
const isInTheWay = (path: string, directory: string, common: string): boolean =>
  dirname(path) === directory || !["worktrees", "modules"].some((name) => path.startsWith(join(common, name, "/")))

const worktrees = (directory: string) =>
  Effect.map(text(directory, ["worktree", "list", "--porcelain", "-z"]), readWorktrees)

const putLocksAside: WorkingTreeCommands["putAsideLocks"] = Effect.fnUntraced(function* (workTree) {
  const args = ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir"]
  const [directory = "", common = ""] = (yield* text(workTree, args)).split("\n")
  const workTrees = Effect.map(worktrees(workTree), (all) => all.map((one) => one.directory))
  const left = yield* putAsideLocks(common, workTrees).pipe(
    Effect.catchTag("UnknownError", (cause) =>
      Effect.fail(new HostFault({ operation: "looking for git's locks", cause }))
    )
  )
  return left.filter(({ path }) => isInTheWay(path, directory, common))
})

export const makeWorkingTreeCommands = Effect.gen(function* () {
  /** One worktree command at a time: git reads the records of all worktrees, even one that another git is writing. */
  const oneByOne = (yield* Semaphore.make(1)).withPermits(1)

  return {
    topLevel,
    // git would give an absolute path as where a link leads, which somebody may have put there.
    gitPath: (directory, name) =>
      Effect.map(line(directory, ["rev-parse", "--git-path", name]), (path) => resolve(directory, path)),
    gitDirectory: (directory) => line(directory, ["rev-parse", "--absolute-git-dir"]),
    branch: (directory) => optional(directory, ["symbolic-ref", "--quiet", "--short", "HEAD"]),
    dirty,
    differences,
    addedUnseen,
    recordInstructions: (directory, root) =>
      recordUntrackedInstructions(join(root, stateFolder), directory, atTop()).pipe(
        Effect.catch((cause) => Effect.fail(new HostFault({ operation: "recording instructions", cause })))
      ),
    commitFile: commitOneFile,

    isBranchName: (directory, name) =>
      name.startsWith("-")
        ? Effect.succeed(false)
        : Effect.map(attempt(directory, ["check-ref-format", "--branch", name]), (done) => done.exitCode === 0),
    branchHead,
    approved,
    recordApproved,
    named: (directory, name) =>
      optional(directory, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]),
    otherFilters: (directory, commit) =>
      otherFiltersOf(directory, commit, atTop()).pipe(
        Effect.catchTag("SandboxFault", ({ cause }) =>
          Effect.fail(new HostFault({ operation: "looking for git's filters", cause }))
        ),
        Effect.mapError((fault) => (fault._tag === "ProgramFailed" ? noAnswerOfGits("ls-tree")(fault) : fault))
      ),

    worktrees: (directory) => oneByOne(worktrees(directory)),
    putAsideLocks: putLocksAside,
    addWorktree: Effect.fnUntraced(function* (directory, path, branch, from) {
      yield* text(directory, ["worktree", "prune"])
      if (from !== undefined) {
        // Where a command has made it a symbolic ref, git would write through it; one that is there by now is a command's, too.
        const message = `branch: Created from ${from}`
        yield* text(directory, ["update-ref", "--no-deref", "-m", message, `refs/heads/${branch}`, from, ""])
      }
      yield* text(directory, ["worktree", "add", "--quiet", "--", path, branch])
    }, oneByOne),
    // One that stays whatever is tried is told as git told it.
    removeWorktree: (directory, path) =>
      removeWorkingTree(directory, path, atTop()).pipe(
        Effect.mapError((fault) =>
          fault._tag === "WorktreeStays"
            ? new GitFault({ operation: "worktree", exitCode: 128, stderr: fault.message })
            : noAnswer("worktree")(fault)
        ),
        oneByOne
      )
  } satisfies WorkingTreeCommands
})
