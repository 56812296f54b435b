/** The git commands for the working tree and its worktrees. */
import { dirname, join, resolve } from "node:path"
import {
  addedUnlisted,
  type CommittedFile,
  commitFile,
  type Difference,
  differencesFromCommit,
  type FileToCommit,
  type GitLock,
  isOwnFile,
  putAsideLocks,
  recordUntrackedInstructions,
  stateFolder,
  type Unlisted,
  unfinishedWork,
  withoutRuntimeChanges,
  workingTreeChanges
} from "@reprise/process"
import { otherFiltersOf, removeWorkingTree } from "@reprise/sandbox"
import { Effect, Semaphore } from "effect"
import { GitFault, HostFault, noAnswer } from "../faults.ts"
import { removeEmptyFolders } from "../files/removeEmptyFolders.ts"
import { type Approved, approved, recordApproved } from "./approvedRecord.ts"
import { readWorktrees, type Worktree } from "./gitOutput.ts"
import { atTop, attempt, type GitResult, line, noAnswerOfGits, optional, text, topLevel } from "./runGit.ts"

/** The working tree, its branch, and the other worktrees of its repository. */
export interface WorkingTreeCommands {
  /** Absolute path of the working tree's top directory; fails outside of a working tree. */
  readonly topLevel: (directory: string) => GitResult<string>
  /** Absolute path of one of git's own files, such as `info/exclude`; right for linked worktrees too. */
  readonly gitPath: (directory: string, name: string) => GitResult<string>
  /** Absolute path of the git directory of this working tree. */
  readonly gitDirectory: (directory: string) => GitResult<string>
  /** The branch that is checked out; undefined when HEAD is detached. */
  readonly branch: (directory: string) => GitResult<string | undefined>
  /**
   * Changed and untracked paths, relative. Without ignored files, those that Reprise wrote, and those that only the agent runtime
   * changed. `whole`: an untracked directory is one entry.
   */
  readonly dirty: (directory: string, untracked: "each" | "whole") => GitResult<ReadonlyArray<string>>
  /**
   * What is not as HEAD's commit has it, each file: whatever a command has told git of its files, and what a quality gate would
   * find though no commit has it. Without ignored files, those that Reprise wrote, and those that only the agent runtime changed. `folder`:
   * where Reprise keeps its own index of this tree. `before`: nobody has worked in it yet, so its files may have any ends of lines, and
   * what git does not show stands there from now on. Empty folders that came since are removed.
   */
  readonly differences: (
    directory: string,
    folder: string,
    when: "before" | "after"
  ) => GitResult<ReadonlyArray<Difference>>
  /** What git does not show and did not stand there before the run, such as a pipe or an empty folder. */
  readonly addedUnseen: (directory: string, folder: string) => GitResult<ReadonlyArray<Unlisted>>
  /** Records the untracked instructions for agents of a tree, for its reviewers. `root`: of the tree in which Reprise keeps its state. */
  readonly recordInstructions: (directory: string, root: string) => GitResult<void>
  /** Commits one file as it is now, and nothing else, whatever is staged. Without hooks and signature. `folder`: as above. */
  readonly commitFile: (
    directory: string,
    folder: string,
    file: Pick<FileToCommit, "head" | "message" | "path">
  ) => GitResult<CommittedFile>
  readonly isBranchName: (directory: string, name: string) => GitResult<boolean>
  readonly worktrees: (directory: string) => GitResult<ReadonlyArray<Worktree>>
  /** On `branch`, which is created from a commit unless it exists. Without hooks: `postCreate` sets the worktree up. */
  readonly addWorktree: (directory: string, path: string, branch: string, from: string | undefined) => GitResult<void>
  /** Programs of the user's own working tree, relative, that git runs as filters and of which a commit (a full hash) has others. */
  readonly otherFilters: (directory: string, commit: string) => GitResult<ReadonlyArray<string>>
  /** The full hash of a branch of this repository; undefined: there is none. */
  readonly branchHead: (directory: string, name: string) => GitResult<string | undefined>
  /** What was recorded of a branch: the last commit that a run has finished on it, or from which one began. */
  readonly approved: (root: string, branch: string) => Effect.Effect<Approved | undefined, HostFault>
  /** Undefined: the record goes. */
  readonly recordApproved: (root: string, branch: string, now: Approved | undefined) => Effect.Effect<void, HostFault>
  /** The full hash of the commit that git takes for the short name of a branch, which a tag may have, too; undefined: nothing. */
  readonly named: (directory: string, name: string) => GitResult<string | undefined>
  /** Moves the locks of killed gits aside, and gives those that stay, of this tree and of what all trees share. */
  readonly putAsideLocks: (directory: string) => GitResult<ReadonlyArray<GitLock>>
  /** With untracked and changed files in it. Fails before anything is removed where somebody has locked it. */
  readonly removeWorktree: (directory: string, path: string) => GitResult<void>
}

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
