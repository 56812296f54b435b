/** The world of one story: plans, options, settings and faults, all from the seed. */
import { type CheckpointType, defaultRunOptions, RunId, type RunOptions } from "@reprise/protocol"
import { type Random, randomOf } from "../machine/Random.ts"
import { type Fault, faultsOf } from "./faults.ts"

export interface PlannedTask {
  readonly id: string
  readonly checkpoint?: CheckpointType
}
export interface PlannedPhase {
  readonly id: string
  readonly tasks: ReadonlyArray<PlannedTask>
}

export interface PlannedRun {
  readonly runId: RunId
  readonly directory: string
  readonly phases: ReadonlyArray<PlannedPhase>
  readonly plan: string
  readonly options: RunOptions
}

export interface World {
  readonly seed: number
  readonly runs: ReadonlyArray<PlannedRun>
  /** How many replicas each service has. */
  readonly replicas: number
  /** An actor's state is written after this many events. */
  readonly snapshotEvery: number
  /** A human answers so many questions, and is gone then. */
  readonly answers: number
  readonly faults: ReadonlyArray<Fault>
}

export const planPath = "plan.md"

const taskLine = ({ checkpoint, id }: PlannedTask): string =>
  `- [ ] ${id} Do it${checkpoint === undefined ? "" : ` (checkpoint: ${checkpoint})`}`

const planText = (phases: ReadonlyArray<PlannedPhase>): string =>
  [
    "# Simulated\n",
    ...phases.map(({ id, tasks }) => `## Phase ${id}: Part ${id}\n\n${tasks.map(taskLine).join("\n")}\n`)
  ].join("\n")

const phaseOf = (random: Random, n: number): PlannedPhase => ({
  id: String(n),
  tasks: Array.from({ length: 1 + random.below(2) }, (_, index): PlannedTask => {
    const checkpoint = random.pick("decision", "human-verify", "human-action")
    return { id: `P${n}.${index + 1}`, ...(random.chance(0.2) ? { checkpoint } : {}) }
  })
})

const minute = 60_000

const optionsOf = (random: Random): RunOptions => ({
  ...defaultRunOptions,
  auto: random.chance(0.25),
  permissions: "ask",
  gates: {
    ...defaultRunOptions.gates,
    quality: random.chance(0.6) ? ["check"] : [],
    phase: random.chance(0.15) ? "human" : "auto"
  },
  limits: {
    ...defaultRunOptions.limits,
    maxReviewIterations: 2,
    maxQualityRetries: 1,
    maxAutoRetries: 2,
    maxStepVisits: 6,
    turnInactivityMs: 3 * minute,
    stuckAfterMs: 4 * minute
  },
  continuation: { ...defaultRunOptions.continuation, unattended: random.pick("fresh", "continue") }
})

const runOf = (random: Random, name: string): PlannedRun => {
  const phases = Array.from({ length: random.pick(1, 1, 1, 2) }, (_, index) => phaseOf(random, index + 1))
  return {
    runId: RunId.make(name),
    directory: `/repo/${name}`,
    phases,
    plan: planText(phases),
    options: optionsOf(random)
  }
}

/** The faults do not change with the rest of the world, nor the rest with the faults. */
export const worldOf = (seed: number, faults?: ReadonlyArray<Fault>): World => {
  const random = randomOf(seed)
  return {
    seed,
    runs: random.pick(["r1"], ["r1"], ["r1"], ["r1"], ["r1"], ["r1", "r2"]).map((name) => runOf(random, name)),
    replicas: random.pick(1, 1, 1, 1, 2),
    snapshotEvery: random.pick(4, 20, 100),
    answers: random.pick(2, 4, 6),
    faults: faults ?? faultsOf(randomOf(seed ^ 0x5bd1e995))
  }
}

/** Its story takes about twice as long as another, and few faults of the services need it. */
const isLarge = ({ replicas, runs }: World): boolean =>
  replicas > 1 || runs.length > 1 || runs.some(({ phases }) => phases.length > 1)

/** Half of all worlds are large; of these, one in four is searched. */
const isSearched = (seed: number): boolean => seed % 4 === 0 || !isLarge(worldOf(seed, []))

/** The seeds of the stories that a search plays. */
export const seedsFrom = (from: number, count: number): ReadonlyArray<number> => {
  const seeds: Array<number> = []
  for (let seed = from; seeds.length < count; seed++) if (isSearched(seed)) seeds.push(seed)
  return seeds
}
