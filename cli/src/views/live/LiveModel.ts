/**
 * The state of a live display: the runs that it shows, by their events and by their agents' current activity. Pure.
 * The lines that scroll come out beside the new model; the lines at the bottom are drawn from it (`statusLines.ts`).
 */
import {
  addTokens,
  defined,
  type LiveMessage,
  noTokens,
  type PublicEvent,
  type RunView,
  type SessionView,
  type Step,
  type Tokens,
  type VendorFailure
} from "@reprise/protocol"
import { vendorWords } from "../eventLine.ts"
import { stepWords } from "../stepText.ts"
import { type Tone, toneOf } from "./tones.ts"

/** Something that takes its time before the first event, such as the broker's start. */
interface StartUpStep {
  readonly name: string
  readonly sinceMs: number
}

/** A text that an agent is writing. */
interface Writing {
  readonly part: string
  readonly kind: "text" | "reasoning"
  /** Its beginning, for the lines that stay, or, where all is shown, what was not shown yet. */
  readonly beginning: string
  /** Its end so far, for the bottom line. */
  readonly end: string
}

interface Turn {
  readonly turnId: string
  readonly tokens: Tokens
  readonly cost: number
  /** Whether its agent is heard right now: then its tools are shown from there, each of them. */
  readonly heard: boolean
  readonly tool?: { readonly text: string; readonly sinceMs: number }
  readonly writing?: Writing
}

/** What a run cannot go on without. */
interface Awaited {
  readonly text: string
  readonly untilMs?: number
}

export interface LiveRun {
  readonly runId: string
  readonly doing: string
  readonly sinceMs: number
  /** Of the turns that have ended. */
  readonly tokens: Tokens
  readonly cost: number
  readonly turn?: Turn
  /** The size of the newest model call, and of the model's window where it is known. */
  readonly context?: { readonly tokens: number; readonly limit?: number }
  readonly awaited?: Awaited
}

export interface LiveModel {
  readonly startedMs: number
  /** When the newest run ended; absent: none has. */
  readonly endedMs?: number
  readonly steps: ReadonlyArray<StartUpStep>
  /** Those that have not ended, the newest last. */
  readonly runs: ReadonlyArray<LiveRun>
  /** All that agents write is shown, not only its beginning. */
  readonly verbose: boolean
  /** The open questions, where a key answers them; undefined: where none does. */
  readonly asked?: ReadonlyArray<string>
}

/** `postponed`: of the session of its open turn. */
export type Continued = Pick<RunView, "runId" | "step" | "phase"> & Pick<SessionView, "postponed">

export type LiveInput =
  | { readonly _tag: "StepBegun"; readonly name: string; readonly atMs: number }
  | { readonly _tag: "StepDone"; readonly name: string; readonly atMs: number }
  /** A run that is continued, whose earlier events are not shown. */
  | { readonly _tag: "Continued"; readonly run: Continued; readonly atMs: number }
  /** `line`: what is printed for it, if anything. */
  | { readonly _tag: "Event"; readonly event: PublicEvent; readonly line: string | undefined; readonly atMs: number }
  | { readonly _tag: "Live"; readonly message: LiveMessage; readonly atMs: number }
  /** The questions that are open now: from now on a key answers them. */
  | { readonly _tag: "Asked"; readonly escalationIds: ReadonlyArray<string> }

/**
 * A line that scrolls away. `tool` is cut where the terminal ends. `said`: an agent's words, to be wrapped or, without
 * `whole`, folded to a few lines.
 */
export type LiveLine =
  | { readonly _tag: "line"; readonly text: string; readonly tone: Tone }
  | { readonly _tag: "tool"; readonly text: string }
  | { readonly _tag: "said"; readonly text: string; readonly whole: boolean }

interface Shown {
  readonly model: LiveModel
  readonly lines: ReadonlyArray<LiveLine>
}

export const emptyModel = (startedMs: number, verbose: boolean): LiveModel => ({
  startedMs,
  steps: [],
  runs: [],
  verbose
})

const nothing: ReadonlyArray<LiveLine> = []

/** Shorter steps are not worth a line. */
const shortestStepMs = 100

const stepDone = (model: LiveModel, name: string, atMs: number): Shown => {
  const done = model.steps.find((step) => step.name === name)
  const ms = atMs - (done?.sinceMs ?? atMs)
  const line = { _tag: "line", text: `${name} took ${(ms / 1000).toFixed(1)} s`, tone: "faint" } as const
  return {
    model: { ...model, steps: model.steps.filter((step) => step.name !== name) },
    lines: ms < shortestStepMs ? nothing : [line]
  }
}

const keptBeginning = 2_000
/** Enough to see where a block began that a model reports in. */
const keptEnd = 4_000

/** The words that stay on the screen when a text is complete, or something else follows it. */
const saidSoFar = ({ turn }: LiveRun, verbose: boolean): ReadonlyArray<LiveLine> => {
  const { writing } = turn ?? {}
  if (writing === undefined || writing.beginning.trim() === "") return nothing
  if (!verbose && writing.kind === "reasoning") return nothing
  return [{ _tag: "said", text: writing.beginning, whole: verbose }]
}

const withoutWriting = (run: LiveRun): LiveRun => {
  if (run.turn?.writing === undefined) return run
  const { writing: _, ...turn } = run.turn
  return { ...run, turn }
}

const withoutAwaited = ({ awaited: _, ...run }: LiveRun): LiveRun => run

const vendorAwaited = (kind: VendorFailure, until?: string): Awaited => {
  const text = vendorWords(kind)
  return until === undefined ? { text } : { text, untilMs: Date.parse(until) }
}

const newTurn = (turnId: string): Turn => ({ turnId, tokens: noTokens, cost: 0, heard: false })

const turnIn = (run: LiveRun, turnId: string): Turn => (run.turn?.turnId === turnId ? run.turn : newTurn(turnId))

const agentSaid = (
  run: LiveRun,
  { kind, omitted = 0, part, text, turnId }: Extract<LiveMessage, { _tag: "AgentSaid" }>,
  verbose: boolean
): { readonly run: LiveRun; readonly lines: ReadonlyArray<LiveLine> } => {
  const turn = turnIn(run, turnId)
  const before = turn.writing?.part === part ? turn.writing : undefined
  const lines = before === undefined ? saidSoFar(run, verbose) : nothing
  const gap = omitted === 0 ? "" : `\n… ${omitted} characters …\n`
  const added = `${gap}${text}`
  const beginning = `${before?.beginning ?? ""}${added}`
  const end = `${before?.end ?? ""}${added}`.slice(-keptEnd)
  const { tool: _, ...rest } = turn
  const write = (kept: string): LiveRun =>
    withoutAwaited({ ...run, turn: { ...rest, heard: true, writing: { part, kind, beginning: kept, end } } })
  if (!verbose) return { run: write(beginning.slice(0, keptBeginning)), lines }
  // Complete lines are shown at once.
  const cut = beginning.lastIndexOf("\n") + 1
  const complete: ReadonlyArray<LiveLine> =
    cut === 0 ? nothing : [{ _tag: "said", text: beginning.slice(0, cut - 1), whole: true }]
  return { run: write(beginning.slice(cut)), lines: [...lines, ...complete] }
}

const toolText = (tool: string, argument: string | undefined): string =>
  argument === undefined ? tool : `${tool} ${argument}`

const live = (run: LiveRun, message: LiveMessage, atMs: number, verbose: boolean) => {
  switch (message._tag) {
    case "AgentSaid":
      return agentSaid(run, message, verbose)
    case "ToolStarted": {
      const text = toolText(message.tool, message.argument)
      const lines: ReadonlyArray<LiveLine> = [...saidSoFar(run, verbose), { _tag: "tool", text: `    … ${text}` }]
      const { writing: _, ...turn } = turnIn(run, message.turnId)
      return { run: withoutAwaited({ ...run, turn: { ...turn, heard: true, tool: { text, sinceMs: atMs } } }), lines }
    }
    case "UsageSoFar": {
      const { contextTokens, cost, tokens, turnId } = message
      const turn = { ...turnIn(run, turnId), tokens, ...defined({ cost }) }
      const context = contextTokens === undefined ? {} : { context: { ...run.context, tokens: contextTokens } }
      return { run: withoutAwaited({ ...run, ...context, turn }), lines: nothing }
    }
    case "VendorAwaited": {
      const { kind, until } = message
      return { run: { ...run, awaited: vendorAwaited(kind, until) }, lines: nothing }
    }
  }
}

/** The events after which nothing of the run moves any more, or a session without a plan has ended. */
const endings: ReadonlySet<PublicEvent["_tag"]> = new Set(["RunCompleted", "RunFailed", "RunAborted", "RunPaused"])
const sessionEndings: ReadonlySet<PublicEvent["_tag"]> = new Set([
  "SessionCompleted",
  "SessionFailed",
  "SessionAborted",
  "SessionExpired",
  "SessionArchived"
])

/** Events that come when the run has ended. */
const afterwards: ReadonlySet<PublicEvent["_tag"]> = new Set(["WorkspaceReleased", "SummaryWritten", "UsageCounted"])

const isOver = ({ _tag, runId, sessionId }: PublicEvent): boolean =>
  endings.has(_tag) || (sessionEndings.has(_tag) && String(sessionId) === String(runId))

const turnEnded = (
  run: LiveRun,
  { context, cost, tokens }: Extract<PublicEvent, { _tag: "TurnCompleted" | "TurnFailed" }>
): LiveRun => {
  const { turn: _, ...rest } = withoutAwaited(run)
  return {
    ...rest,
    tokens: addTokens(run.tokens, tokens),
    cost: run.cost + cost,
    ...defined({ context })
  }
}

const isTurn = (run: LiveRun, turnId: string | undefined): boolean => run.turn?.turnId === turnId

const doingOf = (step: Step, phase: string | undefined): string =>
  stepWords(step, phase === undefined ? "the plan" : `phase ${phase}`)

const followEvent = (run: LiveRun, event: PublicEvent, atMs: number): LiveRun => {
  switch (event._tag) {
    case "StepStarted":
      return {
        ...withoutAwaited(run),
        doing: doingOf(event.step, event.phase),
        sinceMs: atMs
      }
    case "TurnStarted":
      return isTurn(run, event.turnId) ? run : { ...withoutAwaited(run), turn: newTurn(event.turnId) }
    case "TurnProgress":
      return { ...run, turn: { ...turnIn(run, event.turnId), tokens: event.tokens } }
    case "TurnCompleted":
    case "TurnFailed":
      return turnEnded(run, event)
    case "AgentFailed":
      if (event.until !== undefined) return { ...run, awaited: vendorAwaited(event.kind, event.until) }
      return run.awaited === undefined ? { ...run, awaited: vendorAwaited(event.kind) } : run
    case "EscalationRaised":
      return { ...run, awaited: { text: "Your answer is needed" }, sinceMs: atMs }
    case "EscalationAnswered":
    case "EscalationWithdrawn":
    case "StepResumed":
    case "TurnRetried":
    case "AgentWorking":
      return withoutAwaited(run)
    default:
      return run
  }
}

const newRun = (runId: string, atMs: number): LiveRun => ({
  runId,
  doing: "Working",
  sinceMs: atMs,
  tokens: noTokens,
  cost: 0
})

const replaced = (model: LiveModel, run: LiveRun): LiveModel => {
  const isKnown = model.runs.some(({ runId }) => runId === run.runId)
  return {
    ...model,
    runs: isKnown ? model.runs.map((one) => (one.runId === run.runId ? run : one)) : [...model.runs, run]
  }
}

/** Where the agent is heard, each of its tools has been shown already. */
const isShown = (run: LiveRun | undefined, event: PublicEvent): boolean =>
  event._tag === "TurnProgress" && run?.turn?.heard === true && run.turn.turnId === event.turnId

/** The open questions after the event. */
const askedAfter = ({ asked }: LiveModel, event: PublicEvent): Pick<LiveModel, "asked"> => {
  if (asked === undefined) return {}
  switch (event._tag) {
    case "EscalationRaised":
      return { asked: [...asked.filter((id) => id !== event.escalationId), event.escalationId] }
    case "EscalationAnswered":
    case "EscalationWithdrawn":
      return { asked: asked.filter((id) => id !== event.escalationId) }
    default:
      return { asked }
  }
}

const showEvent = (model: LiveModel, { atMs, event, line }: Extract<LiveInput, { _tag: "Event" }>): Shown => {
  const known = model.runs.find(({ runId }) => runId === event.runId)
  const printed: ReadonlyArray<LiveLine> =
    line === undefined || isShown(known, event) ? nothing : [{ _tag: "line", text: line, tone: toneOf(event) }]
  const isSaid = known !== undefined && (printed.length > 0 || event._tag === "TurnCompleted")
  const lines = isSaid ? [...saidSoFar(known, model.verbose), ...printed] : printed
  if (isOver(event))
    return { model: { ...model, endedMs: atMs, runs: model.runs.filter((run) => run !== known) }, lines }
  if (known === undefined && afterwards.has(event._tag)) return { model, lines }
  const before = known ?? newRun(event.runId, atMs)
  return { model: replaced(model, followEvent(isSaid ? withoutWriting(before) : before, event, atMs)), lines }
}

export const show = (model: LiveModel, input: LiveInput): Shown => {
  switch (input._tag) {
    case "StepBegun":
      return { model: { ...model, steps: [...model.steps, { name: input.name, sinceMs: input.atMs }] }, lines: nothing }
    case "StepDone":
      return stepDone(model, input.name, input.atMs)
    case "Continued": {
      const { atMs, run } = input
      const { phase, postponed, runId, step } = run
      const known = {
        ...newRun(runId, atMs),
        ...(step === undefined ? {} : { doing: doingOf(step, phase) }),
        ...(postponed === undefined ? {} : { awaited: vendorAwaited(postponed.kind, postponed.until) })
      }
      return { model: replaced(model, known), lines: nothing }
    }
    case "Event":
      return showEvent({ ...model, ...askedAfter(model, input.event) }, input)
    case "Asked":
      return { model: { ...model, asked: input.escalationIds }, lines: nothing }
    case "Live": {
      const { atMs, message } = input
      const run = model.runs.find(({ runId }) => runId === message.runId) ?? newRun(message.runId, atMs)
      const shown = live(run, message, atMs, model.verbose)
      return { model: replaced(model, shown.run), lines: shown.lines }
    }
  }
}
