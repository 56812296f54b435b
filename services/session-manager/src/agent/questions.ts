/**
 * The agent asks for a permission or an answer: a human or the configured action replies, and the reply goes back into
 * the same prompt (docs/design/sessions.md#auto-resume).
 */
import { type Delivery, isSentBy } from "@reprise/actor"
import { defined, type SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { actionTaken, chooseAction, triedFor } from "../session/actions.ts"
import { type Decision, nothing, refuse } from "../session/guards.ts"
import type { Report } from "../session/inputs.ts"
import type { EventOf, JournalEvent, SessionDetails } from "../session/journal.ts"
import { type AgentQuestion, eventFields, hasEnded, type Session } from "../session/state.ts"
import type { SessionSettings } from "../settings.ts"

/** The reply that an action gives in place of a human; undefined: it has none for this question. */
const replyOfAction = (
  action: "approve" | "reject",
  { kind, options }: Report<"RecordAgentQuestion">
): string | undefined => {
  if (kind === "question") {
    return action === "reject"
      ? "No human is available. Decide for yourself, and say in your report what you decided."
      : undefined
  }
  const reply = action === "approve" ? "once" : "reject"
  return options.length === 0 || options.some(({ name }) => name === reply) ? reply : undefined
}

/** A rejection without words ends the agent's turn: with them it goes on, and does without what was refused. */
export const refusedWords =
  "Nobody is here to allow this, so it is refused. Do the work without it, or in another way. What cannot be done without it belongs in your report."

const wordsFor = (kind: AgentQuestion["kind"], reply: string): { readonly message?: string } =>
  kind === "permission" && reply === "reject" ? { message: refusedWords } : {}

const longestText = 500

const refusal = (
  { turn }: Session,
  details: SessionDetails,
  { text, ...refused }: Pick<EventOf<"PermissionRefused">, "promptId" | "rule" | "sandbox" | "text" | "unattended">
): JournalEvent => ({
  _tag: "PermissionRefused",
  ...eventFields(details, turn?.request.turnId),
  ...refused,
  text: text.slice(0, longestText)
})

const permissionRefused = (
  session: Session,
  details: SessionDetails,
  { kind, promptId, text }: Pick<AgentQuestion, "kind" | "promptId" | "text">,
  reply: string,
  unattended: boolean
): ReadonlyArray<JournalEvent> =>
  kind === "permission" && reply === "reject" ? [refusal(session, details, { promptId, text, unattended })] : []

/** The question is answered by the configured action, or put before a human. */
const replyOrAsk = (
  session: Session,
  details: SessionDetails,
  report: Report<"RecordAgentQuestion">,
  delivery: Delivery,
  settings: SessionSettings
): ReadonlyArray<JournalEvent> => {
  const { kind, lastLines, options, promptId, text } = report
  const question = { promptId, kind, text, options }
  const said = lastLines === undefined ? {} : { lastLines }
  const chosen = chooseAction(
    settings.actions.onPrompt,
    triedFor(session, "prompt"),
    delivery.now,
    (action) => action === "escalate" || replyOfAction(action, report) !== undefined
  )
  const reply = chosen.action === "escalate" ? undefined : replyOfAction(chosen.action, report)
  return reply === undefined
    ? [{ _tag: "AgentPrompting", ...eventFields(details, session.turn?.request.turnId), ...question, ...said }]
    : [
        ...actionTaken(session, details, "prompt", chosen, delivery.now, `${kind}: ${text}`.slice(0, 500)),
        { _tag: "AgentQuestionDecided", ...question, reply, ...wordsFor(kind, reply) },
        ...permissionRefused(session, details, question, reply, true)
      ]
}

const unknownEarlier = ({ earlierQuestions }: Session, { earlier = [] }: Report<"RecordAgentQuestion">) =>
  earlier.filter((id) => !earlierQuestions.includes(id))

/**
 * A question that is already known is not asked again. The same question under another id comes from an agent whose
 * runtime lost the first: the open question stays as it is, and a reply that was given before goes to the new id. When
 * the reports of both are decided in the wrong order, the one that the runtime lost comes last, and changes nothing.
 */
export const recordAgentQuestion = (
  session: Session,
  report: Report<"RecordAgentQuestion">,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const { agentQuestions, details } = session
  if (details === undefined || hasEnded(session)) return nothing
  if (agentQuestions.some(({ runtimePromptId }) => runtimePromptId === report.promptId)) return nothing
  const { kind, promptId, text } = report
  const runtimePromptIds = unknownEarlier(session, report)
  const earlier: ReadonlyArray<JournalEvent> =
    runtimePromptIds.length === 0 ? [] : [{ _tag: "QuestionsAskedEarlier", runtimePromptIds }]
  const same = agentQuestions.find((question) => question.kind === kind && question.text === text)
  if (same === undefined)
    return Result.succeed([...replyOrAsk(session, details, report, delivery, settings), ...earlier])
  if (session.earlierQuestions.includes(promptId)) return nothing
  const repeated = { _tag: "AgentQuestionRepeated", promptId: same.promptId, runtimePromptId: promptId } as const
  return Result.succeed([repeated, ...earlier])
}

/** A reply that the run did not send comes from a human beside the gate, whose escalation is moot from now on. */
const repliedBesideGate = (session: Session, promptId: string, { id }: Delivery): ReadonlyArray<JournalEvent> => {
  const { details, turn } = session
  if (details === undefined || isSentBy("orchestrator", details.runId, id)) return []
  const evidence = `its question ${promptId} was answered`
  return [{ _tag: "AgentWorking", ...eventFields(details, turn?.request.turnId), cause: "human", evidence }]
}

/** A permission is answered by one of its options, a question by any text that is not empty. */
export const replyToPrompt = (
  session: Session,
  command: Extract<SessionCommand, { readonly _tag: "ReplyToPrompt" }>,
  delivery: Delivery
): Decision => {
  const { message, promptId, reply, unattended = false } = command
  const question = session.agentQuestions.find((open) => open.promptId === promptId)
  if (question === undefined)
    return refuse("prompt-closed", `No question ${promptId} is open: it was answered, or is gone.`)
  if (question.reply !== undefined)
    return refuse("prompt-closed", `${promptId} was already answered: the first answer holds.`)
  if (reply.trim() === "") return refuse("invalid", `The answer to ${promptId} is empty.`)
  if (question.kind === "permission" && !question.options.some(({ name }) => name === reply)) {
    const names = question.options.map(({ name }) => name).join(", ")
    return refuse("not-an-option", `'${reply}' is not an answer to ${promptId}: choose ${names}.`)
  }
  const answered: JournalEvent = {
    _tag: "AgentQuestionAnswered",
    promptId,
    kind: question.kind,
    reply,
    ...(unattended ? wordsFor(question.kind, reply) : {}),
    ...defined({ message })
  }
  const { details } = session
  const refused = details === undefined ? [] : permissionRefused(session, details, question, reply, unattended)
  return Result.succeed([answered, ...refused, ...repliedBesideGate(session, promptId, delivery)])
}

/** A question that is gone without our reply was answered in the runtime's own interface. */
export const recordAgentQuestionGone = (session: Session, report: Report<"RecordAgentQuestionGone">): Decision => {
  const question = session.agentQuestions.find(({ runtimePromptId }) => runtimePromptId === report.promptId)
  const { details, turn } = session
  if (question === undefined || details === undefined) return nothing
  const closed: JournalEvent = { _tag: "AgentQuestionClosed", promptId: question.promptId }
  if (question.reply !== undefined || hasEnded(session)) return Result.succeed([closed])
  const evidence = `its question ${report.promptId} was answered in the runtime itself`
  return Result.succeed([
    closed,
    { _tag: "AgentWorking", ...eventFields(details, turn?.request.turnId), cause: "human", evidence }
  ])
}

/** Nothing to answer: a rule or the sandbox has refused it, and the agent knows. */
export const recordRefused = (session: Session, { _tag: _, ...refused }: Report<"RecordRefused">): Decision => {
  const { details } = session
  if (details === undefined || hasEnded(session)) return nothing
  return Result.succeed([refusal(session, details, { ...refused, unattended: true })])
}

const asked = ({ kind, options, promptId, text }: EventOf<"AgentPrompting"> | EventOf<"AgentQuestionDecided">) => ({
  promptId,
  runtimePromptId: promptId,
  kind,
  text,
  options
})

const changeQuestion = (session: Session, promptId: string, change: Partial<AgentQuestion>): Session => ({
  ...session,
  agentQuestions: session.agentQuestions.map((open) => (open.promptId === promptId ? { ...open, ...change } : open))
})

type AgentQuestionEvent = EventOf<
  | "AgentPrompting"
  | "AgentQuestionAnswered"
  | "AgentQuestionClosed"
  | "AgentQuestionDecided"
  | "AgentQuestionRepeated"
  | "QuestionsAskedEarlier"
>

/** The fold of the agent's questions. */
export const evolveAgentQuestions = (session: Session, event: AgentQuestionEvent): Session => {
  switch (event._tag) {
    case "AgentPrompting":
      return { ...session, agentQuestions: [...session.agentQuestions, asked(event)] }
    case "AgentQuestionDecided":
      return {
        ...session,
        agentQuestions: [
          ...session.agentQuestions,
          {
            ...asked(event),
            reply: event.reply,
            ...defined({ message: event.message })
          }
        ]
      }
    case "AgentQuestionAnswered":
      return changeQuestion(session, event.promptId, {
        reply: event.reply,
        ...defined({ message: event.message })
      })
    case "AgentQuestionRepeated":
      return changeQuestion(session, event.promptId, { runtimePromptId: event.runtimePromptId })
    case "QuestionsAskedEarlier":
      return { ...session, earlierQuestions: [...session.earlierQuestions, ...event.runtimePromptIds] }
    case "AgentQuestionClosed":
      return {
        ...session,
        agentQuestions: session.agentQuestions.filter(({ promptId }) => promptId !== event.promptId)
      }
  }
}
