/**
 * Ten thousand runs that wait for a human in one `reprise up`: its memory, and how long it takes to list them, compared
 * with ten. The ten come to their question by themselves; the others are copies of one of them. Linux only.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { Messenger } from "@reprise/actor"
import { EscalationId, type RunId, to } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { makeBundle } from "../../harness/bundle.ts"
import { endedChildrenSeconds, family, taken } from "../processes.ts"
import { branchOfCopy, runIdOfCopy } from "./copyOf.ts"
import { storeCopies } from "./storeCopies.ts"
import { idle, repositoryWith, say, started, startRun, talking } from "./system.ts"

const wanted = Number(process.env.PARKED_RUNS ?? 10_000)
const real = 10
const rounds = 9

const seconds = (sinceMs: number) => `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`

const untilAllWait = Messenger.use(({ list }) => list.orchestrator({ status: "waiting" })).pipe(
  Effect.repeat({ until: (runs) => runs.length === real, schedule: Schedule.spaced("250 millis") }),
  Effect.timeout("5 minutes")
)

/** The smallest of the times, which other work on the machine changes least, and the largest. */
const spread = (times: ReadonlyArray<number>) =>
  `${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`

const cpuSeconds = (pid: number) =>
  family(pid).reduce((sum, one) => sum + taken(one).cpuSeconds + endedChildrenSeconds(one), 0)

/** Also the processor time of host, broker and client: other work on the machine changes it less. */
const timed = Effect.fnUntraced(function* <A, E, R>(name: string, looking: Effect.Effect<A, E, R>) {
  // The host is a child of this process.
  const used = () => cpuSeconds(process.pid)
  const times: Array<number> = []
  const before = used()
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    yield* looking
    times.push(performance.now() - began)
  }
  const cpuMs = ((used() - before) * 1000) / rounds
  say(`  ${name}: ${spread(times)}, processor ${cpuMs.toFixed(0)} ms`)
})

const lists = Effect.gen(function* () {
  const { list, lines } = yield* Messenger
  yield* timed("runs, as 'reprise status' asks", lines.orchestrator())
  yield* timed("questions, as 'reprise gate list' asks", lines.gate({ state: "open" }))
  yield* timed("runs that are running", list.orchestrator({ status: "running" }))
  yield* timed("runs, whole", list.orchestrator())
  yield* timed("questions, whole", list.gate())
  yield* timed("sessions, whole", list.sessionManager())
})

const commands = (root: string, launcher: string) =>
  Effect.forEach(
    [["--version"], ["status"], ["gate", "list"], ["status", "--json"]],
    (args) =>
      timed(
        `reprise ${args.join(" ")}`,
        Effect.sync(() => execFileSync(process.execPath, [launcher, ...args], { cwd: root, maxBuffer: 2 ** 30 }))
      ),
    { discard: true }
  )

const listed = Effect.fnUntraced(function* (root: string, launcher: string) {
  yield* talking(root, lists)
  yield* commands(root, launcher)
})

/** The sessions are looked up after a start. */
const untilQuiet = Effect.fnUntraced(function* (pid: number) {
  const began = performance.now()
  for (let calm = 0; calm < 3 && performance.now() - began < 10 * 60_000; ) {
    const before = cpuSeconds(pid)
    yield* Effect.sleep("2 seconds")
    calm = cpuSeconds(pid) - before < 0.2 ? calm + 1 : 0
  }
})

/** Answers a copy's question: the run goes on until its agent asks the next one. */
const answerOne = Effect.fnUntraced(function* (root: string, original: RunId, n: number) {
  const runId = runIdOfCopy({ runId: original, sequences: [] }, n)
  const directory = join(root, ".reprise", "worktrees", runId)
  execFileSync("git", ["worktree", "add", "-b", branchOfCopy(n), directory], { cwd: root, stdio: "ignore" })
  const began = performance.now()
  const going = Effect.gen(function* () {
    const { ask, show } = yield* Messenger
    const answer = { choice: "continue-session", by: "bench", via: "cli" }
    yield* ask(to.gate(EscalationId.make(`${runId}-e1`)).AnswerEscalation(answer), { subject: runId })
    const accepted = seconds(began)
    const run = yield* show.orchestrator(runId).pipe(
      Effect.repeat({
        until: ({ escalationId = "", status }) => status === "waiting" && escalationId.endsWith("-e2"),
        schedule: Schedule.spaced("50 millis")
      }),
      Effect.timeout("60 seconds")
    )
    say(
      `a copy's question was answered after ${accepted}; its run went on to its next question after ${seconds(began)} (turns: ${run.usage.author.turns})`
    )
  })
  yield* talking(root, going)
})

const measured = Effect.gen(function* () {
  const { launcher } = yield* makeBundle
  const root = yield* repositoryWith(real)
  const runs = yield* Effect.gen(function* () {
    const { pid } = yield* started(root)
    const ids = yield* talking(
      root,
      Effect.tap(
        Effect.forEach(
          Array.from({ length: real }, (_, n) => n),
          (n) => startRun(root, n)
        ),
        () => untilAllWait
      )
    )
    yield* idle(`${real} parked runs`, pid)
    yield* listed(root, launcher)
    return ids
  }).pipe(Effect.scoped)
  const [original] = runs
  if (original === undefined) return
  const storedFrom = performance.now()
  const { messages } = yield* Effect.scoped(storeCopies(root, original, wanted - real))
  say(`${wanted - real} copies of ${messages} messages each stored in ${seconds(storedFrom)}`)
  const startedFrom = performance.now()
  const { pid } = yield* started(root)
  say(`started: serves after ${seconds(startedFrom)}`)
  yield* untilQuiet(pid)
  say(`quiet after ${seconds(startedFrom)}`)
  yield* idle(`${wanted} parked runs, at which nobody looked`, pid)
  yield* listed(root, launcher)
  yield* idle(`${wanted} parked runs, listed`, pid)
  yield* answerOne(root, original, wanted - real - 1)
}).pipe(Effect.scoped)

export const manyParkedRuns = (): Promise<void> => {
  say(`smallest to largest of ${rounds} times; ${wanted} runs`)
  return Effect.runPromise(measured)
}
