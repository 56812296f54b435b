/** Locks of git's that a killed process left, at every moment at which Reprise asks git for something. */
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import type { InPlaceCommand } from "../src/actor/inputs.ts"
import type { Place } from "../src/actor/work.ts"
import { doCommand } from "../src/work/doCommand.ts"
import { settleLocks } from "../src/work/git/leftLocks.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { prepare } from "../src/work/prepare/prepare.ts"
import { host, inMemory } from "./support/brokers.ts"
import { claims, finish, gates, prepareIn, runId, verify, verifyTasks } from "./support/commands.ts"
import { adapters, type Repository, repository, temporaryDirectory } from "./support/repository.ts"

const left = [
  ...["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock", "info/sparse-checkout.lock"],
  ...["refs/heads/main.lock", "refs/heads/a/b.lock", "refs/tags/v1.lock", "objects/info/commit-graph.lock"],
  ...["worktrees/second/index.lock", "worktrees/second/HEAD.lock", "modules/sub/index.lock", "modules/a/b/config.lock"],
  ...["reftable/tables.list.lock", "sequencer/todo.lock"]
]
/** git's own, though it is called so, and those of other tools. */
const others = ["worktrees/locked.lock/HEAD", "annex/x.lock", "lfs/x.lock", "logs/refs/heads/x.lock", "gc.pid"]

/** So long ago that whoever made it would be done, or be seen. */
const wayBack = new Date("2001-01-01")

const make = ({ root }: Repository, path: string) => {
  const at = join(root, ".git", path)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, "")
  utimesSync(at, wayBack, wayBack)
}

const thereOf = ({ root }: Repository, paths: ReadonlyArray<string>) =>
  paths.filter((path) => existsSync(join(root, ".git", path)))

const prepared = (made: Repository) =>
  Effect.flatMap(prepare(prepareIn(made.root), host, undefined, crypto.randomUUID()), ({ event, place }) =>
    place === undefined ? Effect.die(new Error(JSON.stringify(event))) : Effect.succeed(place)
  )

const inPlace = (command: InPlaceCommand) => (_: Repository, place: Place) =>
  doCommand({ command, requestId: "q" }, place)

type Moment = (
  made: Repository,
  place: Place
) => Effect.Effect<unknown, unknown, Effect.Services<ReturnType<typeof doCommand>>>

const base = "0".repeat(40)
const moments: ReadonlyArray<readonly [string, Moment]> = [
  ["before a run", (made) => doCommand({ command: prepareIn(made.root), requestId: "q" }, undefined)],
  ["before a quality gate", inPlace(gates(["true"]))],
  ["at the check of a commit", inPlace(verify("abcdef1", base))],
  [
    "at the check of what an author says",
    (made, place) => Effect.flatMap(made.git("rev-parse", "HEAD"), (head) => inPlace(claims(head, []))(made, place))
  ],
  ["at the check of a continuation", inPlace(verifyTasks([]))],
  ["at the end of a phase", inPlace(finish())],
  [
    "at the end of a run",
    (_, place) =>
      doCommand({ command: { _tag: "ReleaseWorkspace", runId, outcome: "completed" }, requestId: "q" }, place)
  ]
]

const services = Leases.layer.pipe(Layer.provideMerge(inMemory), Layer.provideMerge(adapters))

layer(services, { excludeTestServices: true })("locks that a killed git left", (it) => {
  it.effect.each(moments)("are put aside %s, and nothing else is", ([title, moment]) =>
    Effect.gen(function* () {
      const made = yield* repository
      const place = yield* prepared(made)
      if (title === "before a run") {
        yield* doCommand({ command: { _tag: "ReleaseWorkspace", runId, outcome: "completed" }, requestId: "q" }, place)
      }
      for (const path of [...left, ...others]) make(made, path)
      yield* moment(made, place)
      assert.deepStrictEqual(thereOf(made, left), [])
      assert.deepStrictEqual(thereOf(made, others), others)
      assert.strictEqual(readdirSync(join(made.root, ".git", "reprise-left")).length, left.length, "nothing is lost")
      yield* made.git("config", "user.nickname", "works")
      yield* made.commit("works")
    })
  )

  const ofAgents: ReadonlyArray<readonly [string, (path: string) => void]> = [
    ["an empty folder", (path) => mkdirSync(path)],
    [
      "a folder that nobody may list",
      (path) => {
        mkdirSync(join(path, "below"), { recursive: true })
        chmodSync(path, 0)
      }
    ],
    ["a link", (path) => symlinkSync("nowhere", path)],
    ["a named pipe", (path) => execFileSync("mkfifo", [path])]
  ]
  it.effect.each(ofAgents)(
    "are put aside, and the phase is finished, where an agent made %s of their names",
    ([, put]) =>
      Effect.gen(function* () {
        const made = yield* repository
        const place = yield* prepared(made)
        const review = "docs/reviews/plan-phase-1-review.md"
        yield* made.write(review, "# Review\n")
        for (const name of ["index.lock", "config.lock", "HEAD.lock", "refs/heads/main.lock"]) {
          put(join(made.root, ".git", name))
        }
        const { event } = yield* doCommand({ command: finish(review), requestId: "q" }, place)
        assert.strictEqual(event._tag, "PhaseFinished")
      })
  )

  it.effect("are put aside with a few lines in the log, however many and however long their names are", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const lines: Array<string> = []
      const log = Logger.layer([Logger.make(({ message }) => void lines.push(String(message)))])
      const long = ["ä".repeat(100), "b".repeat(200)].join("/")
      const paths = Array.from({ length: 300 }, (_, at) => `refs/heads/${long}/${at}.lock`)
      for (const path of paths) make(made, path)
      yield* settleLocks(made.root, "write").pipe(Effect.provide(log))
      assert.deepStrictEqual(thereOf(made, paths), [])
      assert.strictEqual(readdirSync(join(made.root, ".git", "reprise-left")).length, paths.length, "nothing is lost")
      assert.strictEqual(lines.length, 6)
      assert.include(lines.at(-1), "295 more")
    })
  )

  it.effect("are put aside where the run has a worktree of its own, too", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const directory = join(yield* temporaryDirectory, "own")
      yield* made.git("worktree", "add", "--quiet", directory)
      for (const path of ["worktrees/own/index.lock", "packed-refs.lock"]) make(made, path)
      yield* settleLocks(directory, "write")
      assert.deepStrictEqual(thereOf(made, ["worktrees/own/index.lock", "packed-refs.lock"]), [])
    })
  )
})

/** Somebody writes the message of a commit: git closed the lock's file, and keeps it. */
const committing = ({ git, root }: Repository, directory: string) =>
  Effect.gen(function* () {
    writeFileSync(join(directory, "PLAN.md"), "# Changed\n")
    const started = join(yield* temporaryDirectory, "started")
    const user = ["-c", "user.name=a", "-c", "user.email=a@b.invalid"]
    const child = spawn("git", [...user, "commit", "--all"], {
      cwd: directory,
      env: { PATH: process.env["PATH"], HOME: "/nonexistent", GIT_EDITOR: `touch '${started}'; sleep 600; false` },
      detached: true,
      stdio: "ignore"
    })
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
    const kill = Effect.promise(async () => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL")
      await ended
    })
    yield* Effect.addFinalizer(() => kill)
    yield* Effect.promise(async () => {
      while (!existsSync(started)) await new Promise((resolve) => setImmediate(resolve))
    })
    const gitDirectory =
      directory === root ? join(root, ".git") : yield* git("-C", directory, "rev-parse", "--absolute-git-dir")
    const lock = join(gitDirectory, "index.lock")
    utimesSync(lock, wayBack, wayBack)
    return { lock, kill, pid: child.pid }
  })

layer(services, { excludeTestServices: true })("a lock that a git at work holds", (it) => {
  it.effect("stays, and is named where git must write, until that git is killed", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const { kill, lock, pid } = yield* committing(made, made.root)
      const error = yield* Effect.flip(settleLocks(made.root, "write", 0))
      assert.include(error.message, lock)
      assert.include(error.message, `process ${pid} (git`)
      yield* settleLocks(made.root, "look", 0)
      assert.isTrue(existsSync(lock))
      yield* kill
      yield* settleLocks(made.root, "write", 0)
      assert.isFalse(existsSync(lock))
    })
  )

  it.effect("in another worktree is in nobody's way, and stays", () =>
    Effect.gen(function* () {
      const made = yield* repository
      const directory = join(yield* temporaryDirectory, "second")
      yield* made.git("worktree", "add", "--quiet", directory)
      const { lock } = yield* committing(made, directory)
      yield* settleLocks(made.root, "write", 0)
      assert.isTrue(existsSync(lock))
    })
  )
})
