/** The agent asks: permissions and questions go to a human, and the answer back into the same prompt. */
import { type Delivery, isSentBy } from "@reprise/actor"
import type { SessionCommand } from "@reprise/protocol"
import { Result } from "effect"
import { chooseAction } from "./actions/chooseAction.ts"
import { taken, triedFor } from "./actions/taken.ts"
import type { JournalEvent, SessionDetails } from "./events.ts"
import { type Decision, nothing, refuse } from "./guards.ts"
import type { SessionReport } from "./messages.ts"
import { hasEnded, placeOf, type Session } from "./Session.ts"
import type { SessionSettings } from "./settings.ts"

type Report<Tag extends SessionReport["_tag"]> = Extract<SessionReport, { readonly _tag: Tag }>

/** What a policy answers in a human's place; undefined: it cannot. */
const policyReply = (
  action: "approve" | "reject",
  { kind, options }: Report<"RecordPrompting">
): string | undefined => {
  if (kind === "question") {
    return action === "reject"
      ? "No human is available. Decide for yourself, and say in your report what you decided."
      : undefined
  }
  const reply = action === "approve" ? "once" : "reject"
  return options.length === 0 || options.some(({ name }) => name === reply) ? reply : undefined
}

/** As configured: answered by policy, or put before a human. */
const ask = (
  session: Session,
  details: SessionDetails,
  report: Report<"RecordPrompting">,
  delivery: Delivery,
  settings: SessionSettings
): ReadonlyArray<JournalEvent> => {
  const { kind, options, promptId, text } = report
  const prompt = { promptId, kind, text, options }
  const tried = triedFor(session, "prompt")
  const chosen = chooseAction(
    settings.actions.onPrompt,
    tried,
    delivery.now,
    (action) => action === "escalate" || policyReply(action, report) !== undefined
  )
  const reply = chosen.action === "escalate" ? undefined : policyReply(chosen.action, report)
  return reply === undefined
    ? [{ _tag: "AgentPrompting", ...placeOf(details, session.turn?.request.turnId), ...prompt }]
    : [
        ...taken(session, details, "prompt", chosen, delivery.now, `${kind}: ${text}`.slice(0, 500)),
        { _tag: "PromptDecided", ...prompt, reply }
      ]
}

/**
 * Seen again, it is not asked again. The same thing under another id is an agent that lost its answer with its runtime:
 * the question that is open stays, and an answer that was given holds.
 */
export const recordPrompting = (
  session: Session,
  report: Report<"RecordPrompting">,
  delivery: Delivery,
  settings: SessionSettings
): Decision => {
  const { details } = session
  if (details === undefined || hasEnded(session)) return nothing
  if (session.prompts.some((prompt) => prompt.askedAs === report.promptId)) return nothing
  const { kind, promptId, text } = report
  const same = session.prompts.find((prompt) => prompt.kind === kind && prompt.text === text)
  if (same !== undefined) {
    return Result.succeed([{ _tag: "PromptAskedAgain", promptId: same.promptId, askedAs: promptId }])
  }
  return Result.succeed(ask(session, details, report, delivery, settings))
}

/** A human by another way than the gate, where the question still stands: it is moot from now on. */
const answeredBeside = (session: Session, promptId: string, { id }: Delivery): ReadonlyArray<JournalEvent> => {
  const { details, turn } = session
  if (details === undefined || isSentBy("orchestrator", details.runId, id)) return []
  const evidence = `what it asked (${promptId}) was answered`
  return [{ _tag: "AgentWorking", ...placeOf(details, turn?.request.turnId), cause: "human", evidence }]
}

/** A permission is answered by one of its options, a question by anything that is not empty. */
export const replyToPrompt = (
  session: Session,
  command: Extract<SessionCommand, { readonly _tag: "ReplyToPrompt" }>,
  delivery: Delivery
): Decision => {
  const prompt = session.prompts.find((open) => open.promptId === command.promptId)
  if (prompt === undefined) return refuse(`Nothing is asked under ${command.promptId}: it was answered, or has gone.`)
  if (prompt.reply !== undefined) return refuse(`${command.promptId} was answered before: the first answer holds.`)
  if (command.reply.trim() === "") return refuse(`The answer to ${command.promptId} is empty.`)
  if (prompt.kind === "permission" && !prompt.options.includes(command.reply)) {
    return refuse(`'${command.reply}' is no answer to ${command.promptId}: choose ${prompt.options.join(", ")}.`)
  }
  const { promptId, reply } = command
  const replied = { _tag: "PromptReplied" as const, promptId, kind: prompt.kind, reply }
  return Result.succeed([replied, ...answeredBeside(session, promptId, delivery)])
}

/** Gone without an answer of ours: somebody answered in the runtime's own interface, and the agent goes on. */
export const recordPromptGone = (session: Session, report: Report<"RecordPromptGone">): Decision => {
  const prompt = session.prompts.find((open) => open.askedAs === report.promptId)
  const { details, turn } = session
  if (prompt === undefined || details === undefined) return nothing
  const closed = { _tag: "PromptClosed" as const, promptId: prompt.promptId }
  if (prompt.reply !== undefined || hasEnded(session)) return Result.succeed([closed])
  return Result.succeed([
    closed,
    {
      _tag: "AgentWorking",
      ...placeOf(details, turn?.request.turnId),
      cause: "human",
      evidence: `what it asked (${report.promptId}) was answered in the runtime itself`
    }
  ])
}
