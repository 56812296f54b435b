/** Sends each input to the function that decides about it. */
import { type Delivery, isSentBy, type Refusal, refusing } from "@reprise/actor"
import { Equal, Result } from "effect"
import { changeModel } from "../agents/model.ts"
import { moveRun } from "../control/move.ts"
import { holdBack, isHeldBack, pauseRun } from "../control/pause.ts"
import { startRun, startStandaloneRun } from "../phase/prepare.ts"
import { overruledAnswer, refuseClosedQuestion } from "../question/answer.ts"
import { abortRun, isEnded } from "../run/end.ts"
import type { HandledInput } from "../run/family.ts"
import { type InputOf, isSubscribed, type RunInput } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { after, type Outcome, outcome } from "../run/moves.ts"
import { isShown, requestOf } from "../run/standalone.ts"
import type { Run, RunState } from "../run/state.ts"
import { hasMovedOn, runStuck } from "../watch/stuck.ts"
import { applyMoves } from "./applyMoves.ts"
import { evolve, runAfter } from "./evolve.ts"
import { actUpon, recordOf } from "./handlers.ts"
import { decideEnded } from "./lateInputs.ts"
import { resumeRun } from "./resume.ts"

type Decision = Result.Result<Outcome, Refusal>

const obey = (events: RunEvents): Decision => Result.succeed(outcome(events))
const unmoved = obey([])
const refuse = refusing("orchestrator")

const requireSameRequest = (run: Run, request: InputOf<"StartRun" | "StartStandaloneRun">): Decision =>
  Equal.equals(requestOf(run), request)
    ? unmoved
    : refuse(
        "already-started",
        `Run ${run.runId} was started with another plan, workspace or options. Start a new run for these.`
      )

/** The refusal of somebody else's command is worth a note, but the run waits only for its own commands. */
const isOthersRefusal = ({ runId }: Run, input: RunInput, { causation }: Delivery): boolean =>
  input._tag === "CommandRefused" && causation !== undefined && !isSentBy("orchestrator", runId, causation)

/** The gate knows who answered first, and closes the question for everybody. */
const isFromGate = ({ escalationId }: InputOf<"AnswerReceived">, { id }: Delivery): boolean =>
  isSentBy("gate", escalationId, id)

const refuseForeign = ({ escalationId }: InputOf<"AnswerReceived">): Decision =>
  refuse("not-from-gate", `Only the gate hands answers on: send AnswerEscalation to escalation ${escalationId}.`)

const decideUnawaited = (run: Run, answer: InputOf<"AnswerReceived">, delivery: Delivery): Decision => {
  const overruled = isFromGate(answer, delivery) ? overruledAnswer(run, answer) : undefined
  return overruled === undefined ? refuseClosedQuestion(run, answer) : obey(overruled)
}

const decideHandled = (run: Run, input: HandledInput, delivery: Delivery): Decision => {
  const recorded = recordOf(run, input._tag, input)
  const known = runAfter(run, recorded)
  if (isOthersRefusal(run, input, delivery)) return obey(recorded)
  const acted = actUpon(known, input)
  if (acted === undefined) {
    return input._tag === "AnswerReceived" ? decideUnawaited(run, input, delivery) : obey(recorded)
  }
  if (input._tag === "AnswerReceived" && !isFromGate(input, delivery)) return refuseForeign(input)
  return Result.succeed(after(recorded, isHeldBack(known, input) ? holdBack(known, input) : acted))
}

/** People see only the session of a standalone run: they abort that, and nobody pauses it. */
const isControl = ({ _tag }: RunInput): boolean =>
  _tag === "PauseRun" || _tag === "ResumeRun" || _tag === "ChangeModel" || _tag === "MoveRun" || _tag === "AbortRun"

const refuseUnknown = ({ runId }: RunInput) =>
  refuse("not-found", `There is no run ${runId}. 'reprise status' lists the runs.`)

const decideStarted = (run: Run, input: RunInput, delivery: Delivery): Decision => {
  if (input._tag === "StartRun" || input._tag === "StartStandaloneRun") return requireSameRequest(run, input)
  if (!isShown(run) && isControl(input)) return refuseUnknown(input)
  if (isEnded(run)) return Result.map(decideEnded(run, input), (events) => outcome(events))
  switch (input._tag) {
    case "PauseRun":
      return pauseRun(run, input.now)
    case "ResumeRun":
      return resumeRun(run)
    case "ChangeModel":
      return obey(changeModel(run, input))
    case "MoveRun":
      return moveRun(run, input)
    case "AbortRun":
      return obey(abortRun(run, input.reason))
    case "ReportStuck":
      return Result.succeed(runStuck(run, input))
    default:
      return decideHandled(run, input, delivery)
  }
}

const outcomeOf = (state: RunState, input: RunInput, delivery: Delivery): Decision => {
  if (input.runId !== delivery.key) {
    return refuse("misaddressed", `The message for ${delivery.key} names run ${input.runId}: they must be the same.`)
  }
  if (state._tag === "Run") return decideStarted(state, input, delivery)
  if (input._tag === "StartRun") return Result.succeed(startRun(input, delivery.now))
  if (input._tag === "StartStandaloneRun") return Result.succeed(startStandaloneRun(input, delivery.now))
  return isSubscribed(input) ? unmoved : refuseUnknown(input)
}

/** The decision alone, without the record of what led to it. */
export const decideRun = (state: RunState, input: RunInput, delivery: Delivery): Result.Result<RunEvents, Refusal> =>
  Result.map(outcomeOf(state, input, delivery), (decided) => applyMoves(state, decided))

/** Every journal entry begins with what led to it, and when. */
export const decide = (state: RunState, input: RunInput, delivery: Delivery): Result.Result<RunEvents, Refusal> => {
  if (input._tag === "ReportStuck" && hasMovedOn(state, input, delivery.now)) return Result.succeed([])
  const happened = { _tag: "Happened" as const, input: input._tag, id: delivery.id, at: delivery.now }
  // The decision sees its own time: the age of a session depends on it.
  return Result.map(decideRun(evolve(state, happened), input, delivery), (events) =>
    events.length === 0 ? events : [happened, ...events]
  )
}
