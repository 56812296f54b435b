/** The workspace service on a real broker and with real repositories. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Messenger } from "@reprise/actor"
import { Host, type PublicEvent, type PublicEventType, RunId, type WorkspaceCommand } from "@reprise/protocol"
import { Effect, Exit, Schedule, Scope, Stream } from "effect"
import { host, onJetStream, startService } from "./support/brokers.ts"
import { finish, gates, phase, prepareIn } from "./support/commands.ts"
import { repository } from "./support/repository.ts"

let runs = 0
/** Tests share a broker, so each uses its own run. */
const newRun = () => RunId.make(`run-${++runs}`)

const ask = (run: RunId, command: WorkspaceCommand) =>
  Messenger.use((messenger) =>
    messenger.send({ service: "workspace", key: run, command: { ...command, runId: run } as WorkspaceCommand })
  )

/** Waits for the first event of one of these types of the run. */
const seen = <Type extends PublicEventType>(run: RunId, ...types: ReadonlyArray<Type>) =>
  Effect.flatMap(Messenger, (messenger) =>
    messenger.events({ runId: run, types, from: "beginning" }).pipe(
      Stream.map(({ event }) => event as Extract<PublicEvent, { readonly _tag: Type }>),
      Stream.runHead,
      Effect.flatMap(Effect.fromOption),
      Effect.orDie
    )
  )

const count = (run: RunId, type: PublicEventType, until: PublicEventType) =>
  Effect.flatMap(Messenger, (messenger) =>
    messenger.events({ runId: run, from: "beginning" }).pipe(
      Stream.takeUntil(({ event }) => event._tag === until),
      Stream.runFold(
        () => 0,
        (total, { event }) => total + (event._tag === type ? 1 : 0)
      )
    )
  )

const waitFor = (condition: () => boolean) =>
  Effect.sync(condition).pipe(Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("10 millis") }))

/** The whole lines of a file that a gate writes: the file exists before its first line does. */
const linesOf = (path: string): ReadonlyArray<string> =>
  existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []

const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

const ready = Effect.gen(function* () {
  const made = yield* repository
  const run = newRun()
  yield* ask(run, prepareIn(made.root))
  const prepared = yield* seen(run, "WorkspacePrepared")
  return { ...made, run, base: prepared.head }
})

layer(onJetStream, { excludeTestServices: true, timeout: "15 minutes" })("the workspace service", (it) => {
  it.effect("takes a run from preparing its workspace to releasing it", () =>
    Effect.gen(function* () {
      yield* startService
      const { base, commit, git, root, run, write } = yield* ready

      yield* write("a.ts", "1")
      const work = yield* commit("work")
      yield* ask(run, { _tag: "VerifyCommit", runId: run, phase, commit: work.slice(0, 8), base })
      assert.containSubset(yield* seen(run, "CommitVerified", "CommitRejected"), {
        _tag: "CommitVerified",
        commit: work
      })

      yield* ask(run, gates(["echo fine", "echo bad >&2; exit 1"]))
      const quality = yield* seen(run, "QualityPassed", "QualityFailed")
      assert.containSubset(quality, {
        _tag: "QualityFailed",
        results: [
          { exitCode: 0, head: "fine\n" },
          { exitCode: 1, head: "bad\n" }
        ]
      })

      yield* ask(run, {
        _tag: "WriteContinuationState",
        runId: run,
        phase,
        planId: "plan",
        slug: "One",
        completedTasks: [{ id: "T1", commit: work, files: ["a.ts"] }],
        checkpoint: { task: "T2", type: "decision", description: "Which?" },
        resolution: "sqlite",
        resumeAt: "T2"
      })
      const { path } = yield* seen(run, "ContinuationStateWritten")
      assert.strictEqual(path, ".planning/phases/01-one/.continuation-state.json")
      assert.deepStrictEqual(JSON.parse(readFileSync(join(root, path), "utf8")), {
        plan_id: "plan",
        completed_tasks: [{ id: "T1", commit: work, files: ["a.ts"] }],
        checkpoint: { task: "T2", type: "decision", resolution: "sqlite" },
        resume_at: "T2"
      })

      yield* ask(run, {
        _tag: "WriteSummary",
        runId: run,
        path: ".planning/phases/01-one/SUMMARY.md",
        text: "# Done\n"
      })
      yield* seen(run, "SummaryWritten")
      assert.strictEqual(readFileSync(join(root, ".planning/phases/01-one/SUMMARY.md"), "utf8"), "# Done\n")

      yield* write("docs/reviews/plan-phase-1-review.md", "fine")
      yield* ask(run, finish())
      assert.containSubset(yield* seen(run, "PhaseFinished"), { head: yield* git("rev-parse", "HEAD") })

      yield* ask(run, { _tag: "ReleaseWorkspace", runId: run, outcome: "completed" })
      yield* seen(run, "WorkspaceReleased")
      yield* ask(run, finish())
      assert.containSubset(yield* seen(run, "CommandRefused"), { command: "FinishPhase" })
    })
  )

  it.effect("runs a gate again when its process died, and reports it once", () =>
    Effect.gen(function* () {
      const first = yield* Scope.make()
      yield* startService.pipe(Scope.provide(first))
      const { root, run, write } = yield* ready
      yield* ask(run, gates(["echo begun >> begun; while [ ! -f go ]; do sleep 0.02; done"]))
      // More than one when the request was delivered again while this service was busy.
      yield* waitFor(() => linesOf(join(root, "begun")).length >= 1)
      yield* Scope.close(first, Exit.void)
      const before = linesOf(join(root, "begun")).length

      yield* startService
      yield* waitFor(() => linesOf(join(root, "begun")).length > before)
      yield* write("go", "")
      yield* seen(run, "QualityPassed")
      yield* ask(run, { _tag: "ReleaseWorkspace", runId: run, outcome: "failed" })
      assert.strictEqual(yield* count(run, "QualityPassed", "WorkspaceReleased"), 1)
    })
  )

  it.effect("stops a gate, and drops the requests behind it, when the run is aborted", () =>
    Effect.gen(function* () {
      yield* startService
      const { root, run } = yield* ready
      yield* ask(run, gates(["echo $$ > pid; sleep 600"]))
      yield* waitFor(() => linesOf(join(root, "pid")).length === 1)
      const pid = Number(linesOf(join(root, "pid"))[0])
      yield* ask(run, { _tag: "WriteSummary", runId: run, path: "never.md", text: "x" })
      yield* ask(run, { _tag: "ReleaseWorkspace", runId: run, outcome: "aborted" })
      yield* seen(run, "WorkspaceReleased")
      assert.isFalse(isAlive(pid))
      assert.isFalse(existsSync(join(root, "never.md")))
      assert.containSubset(yield* seen(run, "WorkspaceFailed"), { operation: "RunQualityGates" })
    })
  )

  it.effect("does not run the gate of an aborted run after a restart", () =>
    Effect.gen(function* () {
      const first = yield* Scope.make()
      yield* startService.pipe(Scope.provide(first))
      const { root, run } = yield* ready
      yield* ask(run, gates(["echo begun >> begun; sleep 600"]))
      yield* waitFor(() => linesOf(join(root, "begun")).length >= 1)
      yield* Scope.close(first, Exit.void)
      const before = linesOf(join(root, "begun")).length
      yield* ask(run, { _tag: "ReleaseWorkspace", runId: run, outcome: "aborted" })
      yield* startService
      yield* seen(run, "WorkspaceReleased")
      // The gate may begin once more before the abort is read.
      assert.isAtMost(linesOf(join(root, "begun")).length, before + 1)
    })
  )

  it.effect("refuses work before the workspace is prepared, and a second run in the same tree", () =>
    Effect.gen(function* () {
      yield* startService
      const early = newRun()
      yield* ask(early, finish())
      assert.containSubset(yield* seen(early, "CommandRefused"), { command: "FinishPhase" })
      const { root, run } = yield* ready
      const other = newRun()
      yield* ask(other, prepareIn(root))
      const refused = yield* seen(other, "WorkspaceRefused")
      assert.strictEqual(refused.kind, "in-use")
      assert.include(refused.reason, `run ${run}`)
    })
  )

  it.effect("frees the tree when a run has ended without a release", () =>
    Effect.gen(function* () {
      yield* startService
      const { root, run } = yield* ready
      yield* Messenger.use((messenger) => messenger.publish("orchestrator", { _tag: "RunCompleted", runId: run }))
      const prepared = Effect.gen(function* () {
        const other = newRun()
        yield* ask(other, prepareIn(root))
        return (yield* seen(other, "WorkspacePrepared", "WorkspaceRefused"))._tag
      })
      yield* prepared.pipe(Effect.repeat({ until: (tag) => tag === "WorkspacePrepared" }))
    })
  )

  it.effect("reports a request that failed, and does the next one", () =>
    Effect.gen(function* () {
      yield* startService
      const { run } = yield* ready
      yield* ask(run, { _tag: "WriteSummary", runId: run, path: "../outside.md", text: "x" })
      assert.containSubset(yield* seen(run, "WorkspaceFailed"), { operation: "WriteSummary" })
      yield* ask(run, { _tag: "WriteSummary", runId: run, path: "inside.md", text: "x" })
      yield* seen(run, "SummaryWritten")
    })
  )

  it.effect("shows whoever asks the changes of a run on its host and the logs of its gates, and nothing else", () =>
    Effect.gen(function* () {
      yield* startService
      const { base, commit, run, write } = yield* ready
      yield* write("a.ts", "1\n")
      yield* commit("work")
      yield* write("left.ts", "2\n")
      const { changesAt, gateLogsAt } = yield* Messenger
      const changes = yield* changesAt(host, run, base)
      assert.lengthOf(changes.commits, 1)
      assert.deepStrictEqual(changes.untracked, ["left.ts"])
      const [file, ...others] = changes.files
      assert.deepInclude(file, { path: "a.ts", kinds: ["new"], added: 1, removed: 0, shown: "whole" })
      assert.include(file?.text, "+1")
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual((yield* changesAt(host, run)).files, [])

      yield* ask(run, gates(["echo bad; exit 1"]))
      const quality = yield* seen(run, "QualityPassed", "QualityFailed")
      const [{ logRef } = { logRef: "" }] = quality.results
      const unread = "The log cannot be read."
      const logs = [
        logRef,
        "a.ts",
        `.reprise/logs/${run}/../../../a.ts`,
        logRef.replace(run, "another-run"),
        "/etc/passwd"
      ]
      const texts = yield* gateLogsAt(host, run, logs)
      assert.include(texts[0]?.text, "bad")
      assert.deepStrictEqual(
        texts.slice(1).map(({ text }) => text),
        [unread, unread, unread, unread]
      )

      const refusals = [
        [changesAt(host, run, "--output=stolen"), "nothing-to-show"],
        [changesAt(host, newRun()), "nothing-to-show"],
        [changesAt(Host.make("elsewhere"), run), "not-running"]
      ] as const
      for (const [asked, code] of refusals) {
        const refused = yield* Effect.flip(asked)
        assert.strictEqual(refused.code, code)
      }
    })
  )

  it.effect("answers queries about its workspaces", () =>
    Effect.gen(function* () {
      yield* startService
      const { root, run } = yield* ready
      const shown = yield* Messenger.use((messenger) => messenger.show.workspace(run))
      assert.containSubset(shown, { runId: run, status: "active", host: "h1", root, directory: root, requests: [] })
    })
  )
})
