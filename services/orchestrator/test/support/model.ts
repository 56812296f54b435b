/** Runs of random inputs, and how a test says what must hold in all of them. */
import { it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { runActor } from "../../src/actor/actor.ts"
import type { RunInput } from "../../src/actor/inputs.ts"
import type { RunEvent } from "../../src/actor/journal.ts"
import type { Run, RunState } from "../../src/actor/state.ts"
import { anytime, fitting, presence } from "./candidates.ts"
import { planWith } from "./checkpoints.ts"
import { onePhase, Story, startRun, startStandalone, twoPhases } from "./story.ts"

const below = (limit: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: limit - 1 }))
const Setup = Schema.Struct({
  auto: Schema.Boolean,
  gates: Schema.Boolean,
  /** `short`: so that some runs end. */
  plan: Schema.Literals(["long", "short", "long", "short", "standalone"]),
  phaseGate: Schema.Literals(["auto", "human"]),
  /** Of the second task of the first phase. */
  checkpoint: Schema.Literals(["none", "human-verify", "decision", "human-action"]),
  limit: below(5)
})
const Moves = Schema.Array(Schema.Struct({ pick: below(1000), kind: below(12) })).check(Schema.isMaxLength(80))

type Setup = typeof Setup.Type
type Moves = typeof Moves.Type

const optionsOf = ({ auto, gates, limit, phaseGate }: Setup) => ({
  auto,
  gates: { quality: gates ? ["npm test"] : [], verify: gates ? ["npm run look"] : [], phase: phaseGate },
  limits: {
    maxReviewIterations: limit,
    maxQualityRetries: limit,
    maxAutoRetries: limit * 3,
    maxStepVisits: limit * limit + 1,
    maxStepsPerRun: 10 + limit * 10,
    maxContinuations: limit
  }
})

const startOf = (setup: Setup): RunInput => {
  if (setup.plan === "standalone") return startStandalone
  const whole = setup.plan === "short" ? onePhase : twoPhases
  return startRun(optionsOf(setup), setup.checkpoint === "none" ? whole : planWith(setup.checkpoint, whole))
}

/** Most inputs fit, some are repeated, some come from anywhere, some tell who works in a session. */
const next = (s: Story, told: ReadonlyArray<RunInput>, { kind, pick }: Moves[number]): RunInput | undefined => {
  const fit = fitting(s, pick)
  const from =
    kind === 0 ? told : kind === 1 ? presence(s, pick) : kind <= 3 || fit.length === 0 ? anytime(s, pick) : fit
  return from[pick % from.length]
}

export interface Step {
  readonly s: Story
  readonly before: RunState
  readonly input: RunInput
  readonly events: ReadonlyArray<RunEvent>
  /** Whether the run has refused the input. */
  readonly refused: boolean
}

/** Every event with the state before it. */
export const walk = function* ({ before, events }: Step): Generator<readonly [Run, RunEvent]> {
  let state = before
  for (const event of events) {
    if (state._tag === "Run") yield [state, event] as const
    state = runActor.evolve(state, event)
  }
}

/** What is checked in one story: after each of its steps, and at its end. */
export interface Watcher {
  readonly before?: (s: Story, input: RunInput) => void
  readonly each?: (step: Step) => void
  readonly end?: (s: Story) => void
}

const tellTo = (s: Story, input: RunInput, watcher: Watcher): void => {
  const before = s.state
  watcher.before?.(s, input)
  const decision = s.try(input)
  const refused = Result.isFailure(decision)
  watcher.each?.({ s, before, input, refused, events: Result.isSuccess(decision) ? decision.success : [] })
}

/** What is wrong with the story of these inputs; undefined: nothing. */
const problemIn = (inputs: ReadonlyArray<RunInput>, watch: () => Watcher): unknown => {
  const s = new Story()
  const watcher = watch()
  try {
    for (const input of inputs) tellTo(s, input, watcher)
    watcher.end?.(s)
  } catch (problem) {
    return problem
  }
  return undefined
}

const isFinding = (problem: unknown): boolean => problem instanceof Error && problem.name === "AssertionError"

/** The same story without the inputs that it needs not to go wrong. */
const shortest = (inputs: ReadonlyArray<RunInput>, watch: () => Watcher): ReadonlyArray<RunInput> => {
  const gone = inputs.findLastIndex((_, n) => n > 0 && isFinding(problemIn(inputs.toSpliced(n, 1), watch)))
  return gone === -1 ? inputs : shortest(inputs.toSpliced(gone, 1), watch)
}

/** Tells the story of these moves. Of one that goes wrong, it shows the inputs that matter. */
const play = (setup: Setup, moves: Moves, watch: () => Watcher): void => {
  const s = new Story()
  const watcher = watch()
  const told: Array<RunInput> = []
  const tell = (input: RunInput) => {
    told.push(input)
    tellTo(s, input, watcher)
  }
  try {
    tell(startOf(setup))
    for (const move of moves) {
      const input = next(s, told, move)
      if (input !== undefined) tell(input)
    }
    watcher.end?.(s)
  } catch (problem) {
    const story = isFinding(problem) ? shortest(told, watch) : told
    const lines = story.slice(1).map((input) => JSON.stringify(input).slice(0, 400))
    throw new Error(`${String(problemIn(story, watch))}\n${JSON.stringify(setup)}\n${lines.join("\n")}`, {
      cause: problem
    })
  }
}

const stories = Number(process.env["REPRISE_STORIES"] ?? 150)

/** In each of many random stories, a watcher of its own sees nothing wrong. */
export const inEveryStory = (title: string, watch: () => Watcher) =>
  it.prop(title, [Arbitrary.schema(Setup), Arbitrary.schema(Moves)], ([setup, moves]) => play(setup, moves, watch), {
    // A story that goes wrong has been made short already.
    arbitrary: { runs: stories, size: 80, maxShrinks: 0 }
  })

/** A random story holds this after each of its steps. */
export const always = (title: string, each: (step: Step) => void, end?: (s: Story) => void) =>
  inEveryStory(title, () => (end === undefined ? { each } : { each, end }))
