/**
 * What a phase costs with everything that protects it: a turn of five commands in the sandbox, its commit verified, a
 * quality gate, a review. Compared with the same without the sandbox and, if a folder is named, with another checkout of
 * Reprise, whose dependencies are installed. The model answers at once.
 */
import { join } from "node:path"
import { Effect } from "effect"
import { on, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type PublicLine } from "../harness/World.ts"
import { figuresOf } from "./figures.ts"

const rounds = 3
const phases = 6
const fileCount = 2_000

const files = Object.fromEntries(
  Array.from({ length: fileCount }, (_, n) => [`files/${n % 40}/file-${n}.txt`, `This is file ${n}.\n`])
)

interface Subject {
  readonly name: string
  /** A checkout of Reprise. */
  readonly checkout: string
  readonly mode: "required" | "off"
}

/** Milliseconds between the first event of a type and the next of another, for each phase. */
const between = (events: ReadonlyArray<PublicLine>, from: string, to: string): ReadonlyArray<number> => {
  const times: Array<number> = []
  let since: number | undefined
  for (const { time, type } of events) {
    if (type === from) since ??= Date.parse(time)
    if (type !== to || since === undefined) continue
    times.push(Date.parse(time) - since)
    since = undefined
  }
  return times
}

/** All phases but the first, in which everything is cold. */
const runOf = ({ checkout, mode }: Subject) =>
  Effect.gen(function* () {
    const world = yield* makeWorld({
      plan: plan(...Array.from({ length: phases }, (_, n) => `Part ${n}`)),
      config: 'permissions = "all"\n[gates]\nquality = ["git status --short"]\n',
      files,
      script: script(
        on({ role: "author", kind: "work" }, [
          { bash: "git status --short" },
          { bash: "ls files | wc -l" },
          { bash: "echo {{phase}} >> phase-{{phase}}.txt" },
          { bash: "git add --all && git commit --quiet --message 'Write it' && git rev-parse HEAD" },
          { bash: "git log --oneline -1" },
          { text: "It is written and committed." }
        ])
      ),
      bundle: {
        launcher: join(checkout, "cli/bin/reprise.js"),
        compileCache: join(checkout, "node_modules/.cache/bench")
      },
      environment: () => ({ REPRISE_SANDBOX_MODE: mode })
    })
    const run = yield* world.reprise("run", "PLAN.md", "--json")
    if (run.code !== 0) throw new Error(`the run ended with ${run.code}:\n${run.stdout}${run.stderr}`)
    const events = yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")
    return {
      turn: between(events, "TurnStarted", "TurnCompleted").slice(1),
      phase: between(events, "PhaseStarted", "PhaseCompleted").slice(1)
    }
  }).pipe(Effect.scoped)

export const turn = async (beside?: string): Promise<void> => {
  const here = join(import.meta.dirname, "../..")
  const subjects: ReadonlyArray<Subject> = [
    { name: "without the sandbox", checkout: here, mode: "off" },
    { name: "in the sandbox", checkout: here, mode: "required" },
    ...(beside === undefined
      ? []
      : [{ name: `in the sandbox, ${beside}`, checkout: beside, mode: "required" } as const])
  ]
  const measured = subjects.map((subject) => ({ subject, turn: [] as number[], phase: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const one of measured) {
      const times = await Effect.runPromise(runOf(one.subject))
      one.turn.push(...times.turn)
      one.phase.push(...times.phase)
    }
  }
  const [floor] = measured
  for (const { subject, ...times } of measured) {
    const [turns, whole] = (["turn", "phase"] as const).map((name) => {
      const p50 = figuresOf(times[name]).p50
      return `${p50.toFixed(0)} ms (${(p50 / figuresOf(floor?.[name] ?? []).p50).toFixed(2)} ×)`
    })
    process.stdout.write(`${subject.name}: a turn ${turns}, a phase ${whole}\n`)
  }
}
