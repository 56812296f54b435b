/** git, as far as a workspace needs it. Arguments are arrays; nothing that a message named is ever read as an option. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { type ProgramOutput, runGit } from "@reprise/process"
import type { CommitSubject } from "@reprise/protocol"
import { Context, Effect, Layer, Semaphore } from "effect"
import { childEnvironment } from "./domain/childEnvironment.ts"
import { dirtyPaths } from "./domain/gitStatus.ts"
import { isRuntimeConfig, withSchemaAddress } from "./domain/runtimeFiles.ts"
import { GitFault, HostFault } from "./faults.ts"

type GitError = GitFault | HostFault

/** What a name stands for. */
export type GitObject =
  | { readonly _tag: "Found"; readonly hash: string; readonly type: string }
  | { readonly _tag: "Missing" }
  /** A short hash that several objects share. */
  | { readonly _tag: "Ambiguous" }

export interface Worktree {
  /** Absolute. */
  readonly directory: string
  readonly branch?: string
}

type Directory = string
type Done<A> = Effect.Effect<A, GitError>

export interface GitShape {
  /** Absolute path of the working tree's top; fails when the directory is in none. */
  readonly topLevel: (directory: Directory) => Done<string>
  /** Absolute path of a file of git's own, such as `info/exclude`; right for linked worktrees too. */
  readonly gitPath: (directory: Directory, name: string) => Done<string>
  /** Absolute path of the git directory of this working tree. */
  readonly gitDirectory: (directory: Directory) => Done<string>
  /** The full hash of HEAD; undefined before the first commit. */
  readonly head: (directory: Directory) => Done<string | undefined>
  /** The branch checked out; undefined when HEAD is detached. */
  readonly branch: (directory: Directory) => Done<string | undefined>
  /** What each name stands for. Names must have passed `isCommitName`. */
  readonly describe: (directory: Directory, names: ReadonlyArray<string>) => Done<ReadonlyArray<GitObject>>
  readonly isAncestor: (directory: Directory, ancestor: string, descendant: string) => Done<boolean>
  /** The newest commit that both lead to; undefined: none. */
  readonly mergeBase: (directory: Directory, one: string, other: string) => Done<string | undefined>
  /** Those of the commits that HEAD does not lead to, or all that lead to them and not to HEAD. */
  readonly unreachable: (directory: Directory, commits: ReadonlyArray<string>) => Done<ReadonlySet<string>>
  readonly hasDiff: (directory: Directory, from: string, to: string) => Done<boolean>
  /** Files that differ between two commits, relative to the root. */
  readonly changed: (directory: Directory, from: string, to: string) => Done<ReadonlyArray<string>>
  readonly diffStat: (directory: Directory, from: string, to: string) => Done<string>
  /**
   * Changed and untracked paths, relative; without ignored ones and without what the runtime alone changed. `whole`: an
   * untracked directory is one entry.
   */
  readonly dirty: (directory: Directory, untracked: "each" | "whole") => Done<ReadonlyArray<string>>
  /** What a commit (a full hash) has at a path; undefined: nothing. `other`: a directory, a link or a submodule. */
  readonly entry: (directory: Directory, commit: string, path: string) => Done<"file" | "other" | undefined>
  /** Whether `commit` (a full hash) or a commit after it up to HEAD deleted the file. */
  readonly deletedSince: (directory: Directory, commit: string, path: string) => Done<boolean>
  /** The first line of a commit's message. */
  readonly subject: (directory: Directory, commit: string) => Done<string>
  /** The same for many commits (whole hashes), in their order. One process. */
  readonly subjects: (directory: Directory, commits: ReadonlyArray<string>) => Done<ReadonlyArray<CommitSubject>>
  /** Whether history ends at an edge beyond which commits were not fetched. */
  readonly isShallow: (directory: Directory) => Done<boolean>
  /** Commits one file as it is now, whatever else is staged; gives the new HEAD. No hooks, no signature. */
  readonly commitFile: (directory: Directory, path: string, message: string) => Done<string>
  readonly isBranchName: (directory: Directory, name: string) => Done<boolean>
  readonly branchExists: (directory: Directory, name: string) => Done<boolean>
  readonly worktrees: (directory: Directory) => Done<ReadonlyArray<Worktree>>
  /** On `branch`, which is made from HEAD unless it exists. No hooks: `postCreate` is there to set it up. */
  readonly addWorktree: (directory: Directory, path: string, branch: string) => Done<void>
  /** Untracked and changed files in it are lost. */
  readonly removeWorktree: (directory: Directory, path: string) => Done<void>
}

/** Compares two commits by git's own means alone. */
const between = (from: string, to: string) => ["--no-ext-diff", "--no-textconv", "--end-of-options", from, to, "--"]
const noHooks = ["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"]

const lines = (text: string) => text.split("\n").filter((line) => line !== "")
const firstLine = (text: string) => text.split("\n", 1)[0] ?? ""

/** A directory's name; with a slash git lists what is in it. */
const withoutSlash = (path: string) => path.replace(/(?<=[^/])\/+$/, "")

const parseObject = (line: string): GitObject => {
  if (line.endsWith(" ambiguous")) return { _tag: "Ambiguous" }
  const [hash, type] = line.split(" ")
  return hash === undefined || type === undefined || type === "missing"
    ? { _tag: "Missing" }
    : { _tag: "Found", hash, type }
}

const parseWorktree = (record: string): ReadonlyArray<Worktree> => {
  const field = (name: string) =>
    record
      .split("\0")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1)
  const directory = field("worktree")
  const branch = field("branch")?.replace(/^refs\/heads\//, "")
  return directory === undefined ? [] : [{ directory, ...(branch === undefined ? {} : { branch }) }]
}

const make = Effect.gen(function* () {
  const run = (directory: Directory, args: ReadonlyArray<string>, input?: string) =>
    runGit(directory, args, {
      environment: childEnvironment(process.env),
      ...(input === undefined ? {} : { input })
    }).pipe(Effect.mapError(({ cause }) => new HostFault({ operation: "git", cause })))

  /** git reads the records of all worktrees of a repository, also one that another git is just writing. */
  const oneByOne = (yield* Semaphore.make(1)).withPermits(1)

  const fault = (operation: string, { exitCode, stderr }: ProgramOutput) =>
    new GitFault({ operation, exitCode, stderr })
  const nameOf = (args: ReadonlyArray<string>) => args.find((arg) => /^[a-z]/.test(arg) && !arg.includes("=")) ?? "git"

  /** Output of a command that must succeed. */
  const text = (directory: Directory, args: ReadonlyArray<string>, input?: string): Done<string> =>
    Effect.flatMap(run(directory, args, input), (done) =>
      done.exitCode === 0 ? Effect.succeed(done.stdout) : Effect.fail(fault(nameOf(args), done))
    )

  /** A question answered by exit code: 0 yes, 1 no. */
  const asks = (directory: Directory, args: ReadonlyArray<string>): Done<boolean> =>
    Effect.flatMap(run(directory, args), (done) =>
      done.exitCode === 0 || done.exitCode === 1
        ? Effect.succeed(done.exitCode === 0)
        : Effect.fail(fault(nameOf(args), done))
    )

  const optional = (directory: Directory, args: ReadonlyArray<string>): Done<string | undefined> =>
    Effect.flatMap(run(directory, args), (done) =>
      done.exitCode === 0
        ? Effect.succeed(firstLine(done.stdout))
        : done.exitCode === 1
          ? Effect.succeed(undefined)
          : Effect.fail(fault(nameOf(args), done))
    )

  const head: GitShape["head"] = (directory) =>
    optional(directory, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
  const branchExists: GitShape["branchExists"] = (directory, name) =>
    asks(directory, ["show-ref", "--verify", "--quiet", "--", `refs/heads/${name}`])

  /** Whether the runtime alone changed this file. */
  const isOfRuntime = Effect.fnUntraced(function* (directory: Directory, path: string) {
    const committed = yield* run(directory, ["cat-file", "blob", `HEAD:${path}`])
    if (committed.exitCode !== 0) return false
    return yield* Effect.tryPromise(() => readFile(join(directory, path), "utf8")).pipe(
      Effect.map((found) => found === withSchemaAddress(committed.stdout)),
      Effect.orElseSucceed(() => false)
    )
  })

  /** A container may have nobody configured: commits of Reprise are then its own. */
  const identity = Effect.fnUntraced(function* (directory: Directory) {
    const email = yield* optional(directory, ["config", "user.email"])
    return email === undefined || email === "" ? ["-c", "user.name=Reprise", "-c", "user.email=reprise@localhost"] : []
  })

  return Git.of({
    topLevel: (directory) => Effect.map(text(directory, ["rev-parse", "--show-toplevel"]), firstLine),
    gitPath: (directory, name) =>
      Effect.map(text(directory, ["rev-parse", "--path-format=absolute", "--git-path", name]), firstLine),
    gitDirectory: (directory) => Effect.map(text(directory, ["rev-parse", "--absolute-git-dir"]), firstLine),
    head,
    branch: (directory) => optional(directory, ["symbolic-ref", "--quiet", "--short", "HEAD"]),
    describe: (directory, names) =>
      names.length === 0
        ? Effect.succeed([])
        : Effect.map(
            text(directory, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], `${names.join("\n")}\n`),
            (output) => lines(output).map(parseObject)
          ),
    isAncestor: (directory, ancestor, descendant) =>
      asks(directory, ["merge-base", "--is-ancestor", "--end-of-options", ancestor, descendant]),
    mergeBase: (directory, one, other) => optional(directory, ["merge-base", "--end-of-options", one, other]),
    unreachable: (directory, commits) =>
      commits.length === 0
        ? Effect.succeed(new Set())
        : Effect.map(
            text(directory, ["rev-list", "--stdin"], `${commits.join("\n")}\n^HEAD\n`),
            (output) => new Set(lines(output))
          ),
    hasDiff: (directory, from, to) =>
      Effect.map(
        asks(directory, ["diff", "--quiet", "--ignore-submodules=none", ...between(from, to)]),
        (same) => !same
      ),
    changed: (directory, from, to) =>
      Effect.map(
        text(directory, [
          "diff",
          "--name-only",
          "-z",
          "--no-renames",
          "--no-relative",
          "--ignore-submodules=none",
          "--end-of-options",
          from,
          to,
          "--"
        ]),
        (output) => output.split("\0").filter((path) => path !== "")
      ),
    diffStat: (directory, from, to) =>
      text(directory, ["diff", "--stat=100", "--stat-count=50", "--no-color", ...between(from, to)]),
    dirty: (directory, untracked) =>
      text(directory, [
        "status",
        "--porcelain=v1",
        "-z",
        `--untracked-files=${untracked === "each" ? "all" : "normal"}`,
        "--ignore-submodules=none"
      ]).pipe(
        Effect.map(dirtyPaths),
        Effect.flatMap(
          Effect.filter((path) =>
            isRuntimeConfig(path) ? Effect.map(isOfRuntime(directory, path), (is) => !is) : Effect.succeed(true)
          )
        )
      ),
    entry: (directory, commit, path) =>
      Effect.map(
        text(directory, ["ls-tree", "-z", "--end-of-options", commit, "--", withoutSlash(path)]),
        (output): "file" | "other" | undefined =>
          output === "" ? undefined : output.startsWith("100") ? "file" : "other"
      ),
    deletedSince: (directory, commit, path) =>
      Effect.map(
        text(directory, [
          "log",
          "--max-count=1",
          "--diff-filter=D",
          "--no-renames",
          "--format=%H",
          "HEAD",
          "--not",
          `${commit}^@`,
          "--",
          path
        ]),
        (output) => output.trim() !== ""
      ),
    subject: (directory, commit) =>
      Effect.map(text(directory, ["log", "--max-count=1", "--format=%s", "--end-of-options", commit, "--"]), firstLine),
    subjects: (directory, commits) =>
      commits.length === 0
        ? Effect.succeed([])
        : Effect.map(
            text(
              directory,
              ["log", "--no-walk=unsorted", "--stdin", "--no-show-signature", "--format=%H %s"],
              `${commits.join("\n")}\n`
            ),
            (output) =>
              lines(output).map((line) => ({
                commit: line.slice(0, line.indexOf(" ")),
                subject: line.slice(line.indexOf(" ") + 1)
              }))
          ),
    isShallow: (directory) =>
      Effect.map(text(directory, ["rev-parse", "--is-shallow-repository"]), (output) => firstLine(output) === "true"),
    commitFile: Effect.fnUntraced(function* (directory, path, message) {
      yield* text(directory, ["add", "--force", "--", path])
      const who = yield* identity(directory)
      yield* text(directory, [...noHooks, ...who, "commit", "--quiet", "--only", `--message=${message}`, "--", path])
      return yield* text(directory, ["rev-parse", "HEAD"]).pipe(Effect.map(firstLine))
    }),
    isBranchName: (directory, name) =>
      name.startsWith("-")
        ? Effect.succeed(false)
        : Effect.map(run(directory, ["check-ref-format", "--branch", name]), (done) => done.exitCode === 0),
    branchExists,
    worktrees: (directory) =>
      Effect.map(oneByOne(text(directory, ["worktree", "list", "--porcelain", "-z"])), (output) =>
        output.split("\0\0").flatMap(parseWorktree)
      ),
    addWorktree: Effect.fnUntraced(function* (directory, path, branch) {
      const exists = yield* branchExists(directory, branch)
      yield* text(directory, ["worktree", "prune"])
      yield* text(directory, [
        ...noHooks,
        "worktree",
        "add",
        "--quiet",
        ...(exists ? ["--", path, branch] : ["-b", branch, "--", path, "HEAD"])
      ])
    }, oneByOne),
    removeWorktree: (directory, path) =>
      oneByOne(Effect.asVoid(text(directory, ["worktree", "remove", "--force", "--", path])))
  })
})

export class Git extends Context.Service<Git, GitShape>()("workspace/Git") {
  static readonly layer = Layer.effect(Git, make)
}
