/** What answers, agents that ask, and agents that work by themselves lead to, and what is sent to the gate. */
import { send } from "@reprise/actor"
import { defined, type RunId, to } from "@reprise/protocol"
import { noteResting, type SessionEnd, sessionEnded } from "../author/session.ts"
import {
  asJournalled,
  type Handle,
  type Handler,
  type Handlers,
  ignored,
  nothingRecorded,
  onQuestion,
  type Reactions
} from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import type { EventOf } from "../run/journal.ts"
import { concerns, type Question } from "../run/question.ts"
import { isReviewer } from "../run/reviewer.ts"
import { type Run, workOf } from "../run/state.ts"
import { agentPrompting } from "./agentPrompt.ts"
import { answerReceived, withdrawnByGate } from "./answer.ts"
import { agentEnded, agentGone, agentIdle, agentWorking, noteWorking } from "./autoResume.ts"

/** The agent that the run waits for after its question was withdrawn. */
const onAgent = <Input extends InputOf<"AgentIdle" | "AgentGone"> | SessionEnd>(
  handle: Handle<Input>,
  record: Handler<Input>["record"]
): Handler<Input> => ({
  record,
  move: (run, input) =>
    workOf(run, "Agent")?.sessionId === input.sessionId && run.phase !== undefined
      ? handle(run, run.phase, input)
      : undefined
})

/** A session ends: whoever waits for its agent waits in vain. */
const onSessionEnd = <Input extends SessionEnd>(): Handler<Input> =>
  onAgent((_run, _phase, input: Input) => agentEnded(input), sessionEnded)

const isOpen = (question: Question, input: InputOf<"AnswerReceived"> | InputOf<"EscalationWithdrawn">): boolean =>
  question.ask.escalationId === input.escalationId

/** An agent's own question: of the author's turn, of the review, or of an agent that works by itself. */
const mayPrompt = (run: Run, { sessionId }: InputOf<"AgentPrompting">): boolean => {
  const review = workOf(run, "Review")
  if (review !== undefined) return isReviewer(run, sessionId) && review.interrupted !== true
  const turn = workOf(run, "Turn")
  return turn === undefined
    ? workOf(run, "Agent")?.sessionId === sessionId
    : turn.sessionId === sessionId && !turn.interrupted
}

export const questionHandlers = {
  AgentWorking: onQuestion<InputOf<"AgentWorking">>(
    (question, input) => input.cause !== "turn" && concerns(question, input.sessionId),
    agentWorking,
    noteWorking
  ),
  AgentIdle: onAgent(agentIdle, noteResting),
  AgentGone: onAgent<InputOf<"AgentGone">>((_run, _phase, input) => agentGone(input), noteResting),
  AgentPrompting: {
    record: nothingRecorded,
    move: (run, input) => (mayPrompt(run, input) ? agentPrompting(run, input) : undefined)
  },
  AnswerReceived: onQuestion(isOpen, answerReceived),
  EscalationWithdrawn: onQuestion(isOpen, (_run, question, input) => withdrawnByGate(question, input)),
  PermissionRefused: ignored((_run, { phase, role, rule, sandbox, text, unattended }) => [
    {
      ...{ _tag: "RefusalSeen", role, text, unattended },
      ...defined({ phase, rule, sandbox })
    }
  ]),
  SessionExpired: onSessionEnd(),
  SessionCompleted: onSessionEnd(),
  SessionAborted: onSessionEnd(),
  SessionFailed: onSessionEnd(),
  SessionArchived: onSessionEnd()
} satisfies Partial<Handlers>

const raise = (_runId: RunId, { question }: EventOf<"QuestionAsked"> | EventOf<"QuestionChanged">) => [
  asJournalled("gate", question.ask.escalationId, question.ask)
]

export const questionReactions = {
  QuestionAsked: raise,
  QuestionChanged: raise,
  QuestionWithdrawn: (_runId, { byGate, escalationId, reason }) =>
    byGate === true ? [] : [send(to.gate(escalationId).WithdrawEscalation({ reason }))],
  PromptReplied: (_runId, { message, promptId, reply, sessionId, unattended }) => [
    send(
      to.sessionManager(sessionId).ReplyToPrompt({
        promptId,
        reply,
        ...defined({ message, unattended })
      })
    )
  ]
} satisfies Partial<Reactions>
