/** The host of a workspace: its git, its files and its programs, over repositories in memory. */
import { HeadCommit, UncommittedChanges } from "@reprise/session-manager"
import { Git, GitDirectory, GitFault, type HostFault, Remotes, WorkspaceFiles } from "@reprise/workspace"
import { Effect, Layer, Sink, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import type { Repository } from "./Repository.ts"

export interface SimulatedHost {
  readonly repositories: ReadonlyMap<string, Repository>
  /** Whether the next call of git fails. */
  readonly gitFails: () => boolean
  /** Runs a command of a quality gate; gives its exit code and how long it takes. */
  readonly runCommand: (directory: string, command: string) => { readonly exitCode: number; readonly ms: number }
}

type Answer<A> = Effect.Effect<A, GitFault | HostFault>

const gitOf = ({ gitFails, repositories }: SimulatedHost): (typeof Git)["Service"] => {
  const at = <A>(directory: string, read: (repository: Repository) => A): Answer<A> =>
    Effect.suspend((): Answer<A> => {
      if (gitFails()) return new GitFault({ operation: "simulated", exitCode: 128, stderr: "fatal: the disk is gone" })
      const found = [...repositories.values()].find((one) => `${directory}/`.startsWith(`${one.directory}/`))
      return found === undefined ? Effect.die(`no repository at ${directory}`) : Effect.sync(() => read(found))
    })
  const commitsAfter = (repository: Repository, commits: ReadonlyArray<string>, base: string) => {
    const from = repository.indexOf(base)
    return new Set(
      commits
        .flatMap((name) => repository.commits.slice(from + 1, repository.indexOf(name) + 1))
        .map(({ hash }) => hash)
    )
  }
  return Git.of({
    head: (directory) => at(directory, ({ head }) => head),
    describe: (directory, names) =>
      at(directory, (repository) =>
        names.map((name) => {
          const [found, ...others] = repository.named(name)
          if (found === undefined) return { _tag: "Missing" as const }
          if (others.length > 0) return { _tag: "Ambiguous" as const }
          return { _tag: "Found" as const, hash: found.hash, type: "commit" }
        })
      ),
    isAncestor: (directory, ancestor, descendant) =>
      at(directory, (repository) => {
        const [one, other] = [repository.indexOf(ancestor), repository.indexOf(descendant)]
        return one >= 0 && one <= other
      }),
    mergeBase: (directory, one, other) =>
      at(directory, (repository) => {
        const index = Math.min(repository.indexOf(one), repository.indexOf(other))
        return repository.commits[index]?.hash
      }),
    unreachable: () => Effect.succeed(new Set<string>()),
    newSince: (directory, commits, base) => at(directory, (repository) => commitsAfter(repository, commits, base)),
    hasDiff: (directory, from, to) => at(directory, (repository) => repository.changed(from, to).length > 0),
    changed: (directory, from, to) => at(directory, (repository) => repository.changed(from, to)),
    diffStat: (directory, from, to) =>
      at(directory, (repository) => `${repository.changed(from, to).length} files changed`),
    entry: (directory, commit, path) =>
      at(directory, (repository) => (repository.fileAt(commit, path) === undefined ? undefined : ("file" as const))),
    deletedSince: () => Effect.succeed(false),
    subject: (directory, commit) => at(directory, (repository) => repository.named(commit)[0]?.subject ?? ""),
    subjects: (directory, commits) =>
      at(directory, (repository) =>
        commits.flatMap((commit) => repository.named(commit).map(({ hash, subject }) => ({ commit: hash, subject })))
      ),
    isShallow: () => Effect.succeed(false),
    topLevel: (directory) => at(directory, (repository) => repository.directory),
    gitPath: (directory, name) => at(directory, (repository) => `${repository.directory}/.git/${name}`),
    gitDirectory: (directory) => at(directory, (repository) => `${repository.directory}/.git`),
    branch: () => Effect.succeed("main"),
    dirty: (directory) => at(directory, (repository) => repository.dirty()),
    differences: (directory) => at(directory, (repository) => repository.dirty().map((path) => ({ path }))),
    addedUnseen: () => Effect.succeed([]),
    recordInstructions: () => Effect.void,
    commitsSince: (directory, from, to) =>
      at(directory, (repository) =>
        repository.commits
          .slice(repository.indexOf(from) + 1, repository.indexOf(to) + 1)
          .map(({ hash }, index) => ({
            commit: hash,
            parents: [repository.commits[repository.indexOf(from) + index]?.hash ?? ""]
          }))
          .toReversed()
      ),
    movedSubmodules: () => Effect.succeed([]),
    changedMerges: () => Effect.succeed({ changed: [], unknown: [], more: 0 }),
    approved: () => Effect.succeed(undefined),
    recordApproved: () => Effect.void,
    commitFile: (directory, _, { message, path }) =>
      at(directory, (repository) => ({ _tag: "Committed", head: repository.commitFile(path, message) })),
    isBranchName: () => Effect.succeed(true),
    branchHead: (directory) => at(directory, ({ head }) => head),
    named: (directory) => at(directory, ({ head }) => head),
    otherFilters: () => Effect.succeed([]),
    worktrees: () => Effect.succeed([]),
    addWorktree: () => Effect.void,
    putAsideLocks: () => Effect.succeed([]),
    removeWorktree: () => Effect.void
  })
}

const gitDirectory: (typeof GitDirectory)["Service"] = {
  identify: (directory) => Effect.succeed(`tree${directory.replaceAll("/", "-").replaceAll(".", "")}`),
  exclude: () => Effect.void
}

/** What is ignored by git is kept apart: it never makes a tree dirty. */
const isIgnored = (path: string) => path.startsWith(".reprise/") || path.startsWith(".planning/")

const filesOf = ({ repositories }: SimulatedHost): (typeof WorkspaceFiles)["Service"] => {
  const ignored = new Map<string, string>()
  const read = (root: string, path: string) =>
    isIgnored(path) ? ignored.get(`${root} ${path}`) : repositories.get(root)?.files.get(path)
  return WorkspaceFiles.of({
    read: (root, path) => Effect.sync(() => read(root, path)),
    kind: (root, path) => Effect.sync(() => (read(root, path) === undefined ? undefined : ("file" as const))),
    isNoFile: () => Effect.succeed(false),
    realPath: (path) => Effect.succeed(path),
    isDirectory: (path) => Effect.sync(() => repositories.has(path)),
    replace: (root, path, text) =>
      Effect.sync(() => {
        if (isIgnored(path)) ignored.set(`${root} ${path}`, text)
        else repositories.get(root)?.write(path, text)
      }),
    createLog: () => Effect.succeed({ write: () => Effect.void, flush: Effect.void })
  })
}

/** What a fresh author is told of the working tree. */
const uncommittedOf =
  ({ repositories }: SimulatedHost): (typeof UncommittedChanges)["Service"] =>
  (directory, reviewPath) =>
    Effect.sync(() => {
      const changed = (repositories.get(directory)?.dirty() ?? []).filter((path) => path !== reviewPath)
      return changed.length === 0 ? undefined : `${changed.length} changed:\n${changed.join("\n")}`
    })

const { ChildProcessSpawner: Spawner, ExitCode, make, makeHandle, ProcessId } = ChildProcessSpawner

/** A program is over after its time; nobody ends it before. */
const spawnerOf = ({ runCommand }: SimulatedHost) =>
  make((command) =>
    Effect.sync(() => {
      const { args = [], options } = command._tag === "StandardCommand" ? command : { options: { cwd: "" } }
      const { exitCode, ms } = runCommand(String(options.cwd ?? ""), String(args.at(-1)))
      return makeHandle({
        pid: ProcessId(1),
        exitCode: Effect.as(Effect.sleep(ms), ExitCode(exitCode)),
        isRunning: Effect.succeed(false),
        kill: () => Effect.void,
        stdin: Sink.drain,
        stdout: Stream.empty,
        stderr: Stream.empty,
        all: Stream.empty,
        getInputFd: () => Sink.drain,
        getOutputFd: () => Stream.empty,
        unref: Effect.succeed(Effect.void)
      })
    })
  )

export const hostLayer = (host: SimulatedHost) =>
  Layer.mergeAll(
    Layer.succeed(Git, gitOf(host)),
    Layer.succeed(GitDirectory, gitDirectory),
    Layer.succeed(WorkspaceFiles, filesOf(host)),
    // No run of the simulation has a remote.
    Remotes.layer,
    Layer.succeed(UncommittedChanges, uncommittedOf(host)),
    // Nobody forks a session in a simulation.
    Layer.succeed(HeadCommit, () => Effect.succeed(undefined)),
    Layer.succeed(Spawner, spawnerOf(host))
  )
