/** The git operations that a workspace needs. */
import type { CommittedFile, Difference, FileToCommit, GitLock, Unlisted } from "@reprise/process"
import type { CommitSubject } from "@reprise/protocol"
import { Context, Effect, Layer } from "effect"
import type { HostFault } from "../faults.ts"
import type { Approved } from "./approvedRecord.ts"
import type { Merges } from "./changedMerges.ts"
import { commitCommands } from "./commitCommands.ts"
import type { CommitParents, GitObject, Worktree } from "./gitOutput.ts"
import type { MovedSubmodule } from "./movedSubmodules.ts"
import type { GitResult } from "./runGit.ts"
import { makeWorkingTreeCommands } from "./workingTreeCommands.ts"

/** What git is asked about commits. */
export interface CommitCommands {
  /** The full hash of HEAD; undefined before the first commit. */
  readonly head: (directory: string) => GitResult<string | undefined>
  /** What each name stands for. Names must have passed `isCommitName`. */
  readonly describe: (directory: string, names: ReadonlyArray<string>) => GitResult<ReadonlyArray<GitObject>>
  readonly isAncestor: (directory: string, ancestor: string, descendant: string) => GitResult<boolean>
  /** The newest common ancestor of two commits; undefined: none. */
  readonly mergeBase: (directory: string, one: string, other: string) => GitResult<string | undefined>
  /** Those of `commits` that are not reachable from HEAD, together with their unreachable ancestors. */
  readonly unreachable: (directory: string, commits: ReadonlyArray<string>) => GitResult<ReadonlySet<string>>
  /** Those of `commits` (full hashes) that `base` does not contain, together with their ancestors since it. */
  readonly newSince: (directory: string, commits: ReadonlyArray<string>, base: string) => GitResult<ReadonlySet<string>>
  readonly hasDiff: (directory: string, from: string, to: string) => GitResult<boolean>
  /** Files that differ between two commits, relative to the root. */
  readonly changed: (directory: string, from: string, to: string) => GitResult<ReadonlyArray<string>>
  readonly diffStat: (directory: string, from: string, to: string) => GitResult<string>
  /** What a commit (a full hash) has at a path; undefined: nothing. `other`: a directory, a link or a submodule. */
  readonly entry: (directory: string, commit: string, path: string) => GitResult<"file" | "other" | undefined>
  /** Whether `commit` (a full hash) or a later commit up to HEAD deleted the file. */
  readonly deletedSince: (directory: string, commit: string, path: string) => GitResult<boolean>
  /** The first line of a commit's message. */
  readonly subject: (directory: string, commit: string) => GitResult<string>
  /** The same for many commits (full hashes), in their order, with one process. */
  readonly subjects: (directory: string, commits: ReadonlyArray<string>) => GitResult<ReadonlyArray<CommitSubject>>
  /** The commits that `to` has beside `from` (full hashes), newest first: the `most` newest. */
  readonly commitsSince: (
    directory: string,
    from: string,
    to: string,
    most: number
  ) => GitResult<ReadonlyArray<CommitParents>>
  /** Submodules that `to` has and `from` has not, or at another commit (full hashes). */
  readonly movedSubmodules: (directory: string, from: string, to: string) => GitResult<ReadonlyArray<MovedSubmodule>>
  /** Which merges among the commits that `to` has beside `from` (full hashes) are not what git makes of their parents. */
  readonly changedMerges: (directory: string, from: string, to: string) => GitResult<Merges>
  /** Whether the older part of the history was not fetched. */
  readonly isShallow: (directory: string) => GitResult<boolean>
}

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

export class Git extends Context.Service<Git, CommitCommands & WorkingTreeCommands>()("workspace/Git") {
  static readonly layer = Layer.effect(
    Git,
    Effect.map(makeWorkingTreeCommands, (workingTreeCommands) => Git.of({ ...commitCommands, ...workingTreeCommands }))
  )
}
