/** Runs of random inputs, and how a test says what must hold in all of them. */
import { it } from "@effect/vitest"
import { Result } from "effect"
import { runActor } from "../../src/machine/actor.ts"
import type { RunInput } from "../../src/run/inputs.ts"
import type { RunEvent } from "../../src/run/journal.ts"
import type { Run, RunState } from "../../src/run/state.ts"
import { anytime, fitting, presence } from "./candidates.ts"
import { planWith } from "./checkpoints.ts"
import { onePhase, startRun, startStandalone, twoPhases } from "./samples.ts"
import { Story } from "./story.ts"

/** Numbers from 0 up to a limit, the same for the same seed (mulberry32). */
const numbersFrom = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    const a = Math.imul(state ^ (state >>> 15), state | 1)
    const b = a ^ (a + Math.imul(a ^ (a >>> 7), a | 61))
    return ((b ^ (b >>> 14)) >>> 0) % limit
  }
}
type Numbers = ReturnType<typeof numbersFrom>

const setupFrom = (below: Numbers) => {
  const oneOf = <A>(...all: ReadonlyArray<A> & { readonly 0: A }): A => all[below(all.length)] ?? all[0]
  return {
    auto: below(4) === 0,
    gates: below(2) === 0,
    /** `short`: so that some runs end. */
    plan: oneOf("long", "short", "long", "short", "standalone"),
    phaseGate: oneOf("auto" as const, "human" as const),
    /** Of the second task of the first phase. */
    checkpoint: oneOf("none" as const, "human-verify" as const, "decision" as const, "human-action" as const),
    limit: below(6)
  }
}
type Setup = ReturnType<typeof setupFrom>

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
const next = (s: Story, told: ReadonlyArray<RunInput>, kind: number, pick: number): RunInput | undefined => {
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

/** The kind of a failed assertion; undefined: something else went wrong, such as a story that cannot be told. */
const kindOf = (problem: unknown): string | undefined =>
  problem instanceof Error && problem.name === "AssertionError"
    ? problem.message.slice(0, 40).replace(/\d/g, "")
    : undefined

/** The same story without the inputs that it needs not to go wrong. */
const shortest = (inputs: ReadonlyArray<RunInput>, watch: () => Watcher, kind: string): ReadonlyArray<RunInput> => {
  const gone = inputs.findLastIndex((_, n) => n > 0 && kindOf(problemIn(inputs.toSpliced(n, 1), watch)) === kind)
  return gone === -1 ? inputs : shortest(inputs.toSpliced(gone, 1), watch, kind)
}

/** Of a story that goes wrong, the inputs that matter. */
const shown = (problem: unknown, setup: Setup, told: ReadonlyArray<RunInput>, watch: () => Watcher): string => {
  const kind = kindOf(problem)
  const story = kind === undefined ? told : shortest(told, watch, kind)
  const lines = story.slice(1).map((input) => JSON.stringify(input).slice(0, 400))
  return [String(problemIn(story, watch)), JSON.stringify(setup), ...lines].join("\n")
}

const watches = new Map<string, () => Watcher>()
const stories = Number(process.env["REPRISE_STORIES"] ?? 250)
const mostMoves = 80

/** Tells one random story to all who watch, and notes what the first of its kind goes wrong. */
const tellStory = (below: Numbers, found: Map<string, string>): void => {
  const setup = setupFrom(below)
  const s = new Story()
  const told: Array<RunInput> = []
  const open = [...watches].flatMap(([title, watch]) => (found.has(title) ? [] : [{ title, watch, watcher: watch() }]))
  const all = (see: (watcher: Watcher) => void) => {
    for (const { title, watch, watcher } of open) {
      if (found.has(title)) continue
      try {
        see(watcher)
      } catch (problem) {
        found.set(title, shown(problem, setup, told, watch))
      }
    }
  }
  const tell = (input: RunInput) => {
    told.push(input)
    const before = s.state
    all((watcher) => watcher.before?.(s, input))
    const decision = s.try(input)
    const refused = Result.isFailure(decision)
    const step = { s, before, input, refused, events: Result.isSuccess(decision) ? decision.success : [] }
    all((watcher) => watcher.each?.(step))
  }
  tell(startOf(setup))
  const moves = below(mostMoves)
  for (let move = 0; move < moves; move++) {
    const input = next(s, told, below(12), below(1000))
    if (input !== undefined) tell(input)
  }
  all((watcher) => watcher.end?.(s))
}

const seed = Number(process.env["REPRISE_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

/** What is wrong with random stories, by the title of the watcher that saw it. */
const findings = new Map<string, string>()

/** Tells random stories once, to all who watch and have not seen any: the files of a worker share this module. */
const tellStories = (): void => {
  if (watches.size === 0) return
  const below = numbersFrom(seed)
  for (let n = 0; n < stories; n++) tellStory(below, findings)
  watches.clear()
}

/** In each of many random stories, a watcher of its own sees nothing wrong. */
export const inEveryStory = (title: string, watch: () => Watcher): void => {
  watches.set(title, watch)
  it(title, { timeout: 300_000 }, () => {
    tellStories()
    const problem = findings.get(title)
    if (problem !== undefined) throw new Error(`REPRISE_SEED=${seed}\n${problem}`)
  })
}

/** A random story holds this after each of its steps. */
export const always = (title: string, each: (step: Step) => void, end?: (s: Story) => void): void =>
  inEveryStory(title, () => (end === undefined ? { each } : { each, end }))
