/** What goes wrong in a story on a real broker, all from its seed. */
import { randomOf } from "../simulation/machine/Random.ts"
import type { misbehaviours, misjudgements } from "../simulation/world/faults.ts"
import { type World, worldOf } from "../simulation/world/World.ts"

/** What happens to the broker itself. */
export const deeds = ["kill", "restart", "freeze", "partition", "cut", "lose consumers", "retire"] as const
export type Deed = (typeof deeds)[number]

/** After so many public events. */
export interface PlannedDeed {
  readonly after: number
  readonly deed: Deed
}

export interface Plan {
  readonly world: World
  /** Of a thousand frames, so many meet with a fault. */
  readonly faultsInThousand: number
  readonly deeds: ReadonlyArray<PlannedDeed>
  /** What agents do instead of their work, by prompt. */
  readonly authors: ReadonlyMap<number, (typeof misbehaviours)[number]>
  readonly reviewers: ReadonlyMap<number, (typeof misjudgements)[number]>
  /** Runs of a quality gate that fail. */
  readonly failedGates: ReadonlySet<number>
}

/** A story without faults has about so many public events. */
const usualEvents = 30
const answersOfHumans = 8

export const planOf = (seed: number): Plan => {
  const random = randomOf(seed ^ 0x2545f491)
  const world = { ...worldOf(seed, []), replicas: 2, answers: answersOfHumans }
  const deedCount = random.pick(0, 1, 1, 2)
  const deed = (): Deed => random.pick<Deed>("kill", "restart", "freeze", "partition", "cut", "lose consumers")
  return {
    world,
    faultsInThousand: random.pick(0, 5, 20, 40),
    deeds: Array.from({ length: deedCount }, () => ({ after: random.below(usualEvents), deed: deed() })).toSorted(
      (one, other) => one.after - other.after
    ),
    authors: new Map(
      random.chance(0.7)
        ? [
            [
              random.below(3),
              random.pick(
                "needs-human",
                "reports-failure",
                "no-report",
                "invalid-report",
                "no-commit",
                "leaves-files",
                "asks-permission",
                "passes-checkpoint",
                "architecture"
              )
            ]
          ]
        : []
    ),
    reviewers: new Map(
      random.chance(0.4) ? [[random.below(2), random.pick("finds-something", "needs-decision", "invalid-report")]] : []
    ),
    failedGates: new Set(random.chance(0.3) ? [0] : [])
  }
}

export const planText = ({ authors, deeds: planned, failedGates, faultsInThousand, reviewers, world }: Plan): string =>
  [
    `seed ${world.seed}: ${world.runs.length} runs, ${faultsInThousand} ‰ of the frames`,
    ...planned.map(({ after, deed }) => `${deed} after ${after} events`),
    ...[...authors].map(([prompt, does]) => `author ${does} at prompt ${prompt}`),
    ...[...reviewers].map(([prompt, does]) => `reviewer ${does} at prompt ${prompt}`),
    ...[...failedGates].map((run) => `gate run ${run} fails`)
  ].join(", ")
