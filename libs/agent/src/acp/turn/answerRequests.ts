/** Answers an agent's requests for permissions and its questions: by a rule, by the session's mode, else by asking a human. */
import { randomUUID } from "node:crypto"
import type { RequestPermissionRequest, RequestPermissionResponse, ToolCallUpdate } from "@agentclientprotocol/sdk"
import type { SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect, Option, PubSub, Schedule } from "effect"
import type { PromptReply } from "../../AgentRuntimeShape.ts"
import type { PendingPrompt, RuntimeEvent } from "../../RuntimeEvent.ts"
import { decide, rememberable } from "../../rules/decide.ts"
import { heldBack } from "../../rules/PermissionRules.ts"
import { refusalOf } from "../../rules/permissionOptions.ts"
import type { RuleBook } from "../../rules/RuleBook.ts"
import { inFull } from "../process/deviations.ts"
import type { AcpSession, LiveTurn } from "../session/AcpSession.ts"
import {
  allowing,
  isApproved,
  isUnclear,
  namesNothing,
  optionOf,
  permissionPrompt,
  rejecting,
  toolRequestOf,
  withInput
} from "./acpPermissions.ts"
import { contentOf, decodeForm, formPrompt } from "./elicitation.ts"

export interface Asking {
  readonly sessions: ReadonlyMap<string, AcpSession>
  readonly rules: RuleBook
  readonly sandbox: Pick<SandboxShape, "protectedPaths">
  readonly hub: PubSub.PubSub<RuntimeEvent>
}

const tell = ({ hub }: Asking, event: RuntimeEvent) => Effect.asVoid(PubSub.publish(hub, event))

/** Publishes a prompt for a human and waits for the reply, without a limit. Undefined: the turn ended before. */
const ask = (asking: Asking, live: LiveTurn, prompt: PendingPrompt) =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<PromptReply | undefined>()
    live.waiting.set(prompt.promptId, { prompt, answer })
    live.announced = true
    yield* tell(asking, { type: "prompting", ...prompt })
    return yield* Deferred.await(answer)
  }).pipe(
    Effect.ensuring(
      Effect.suspend(() => {
        live.waiting.delete(prompt.promptId)
        const { causePromptId, promptId, sessionId } = prompt
        const cause = causePromptId === undefined ? {} : { causePromptId }
        return tell(asking, { type: "replied", sessionId, promptId, ...cause })
      })
    )
  )

/** Nobody waits for an answer any more. */
export const withdrawAll = (live: LiveTurn) =>
  Effect.forEach([...live.waiting.values()], ({ answer }) => Deferred.succeed(answer, undefined), { discard: true })

const withdrawn: RequestPermissionResponse = { outcome: { outcome: "cancelled" } }

const choosing = (optionId: string | undefined): RequestPermissionResponse =>
  optionId === undefined ? withdrawn : { outcome: { outcome: "selected", optionId } }

/**
 * The call that a request is about. OpenCode's requests to read name no file: the call has named it, in an update that may
 * come a moment later.
 */
const completed = Effect.fnUntraced(function* (session: AcpSession, call: ToolCallUpdate) {
  if (!namesNothing(call)) return call
  const told = Effect.sync(() => {
    const entry = session.conversation.entries.findLast((it) => it.kind === "tool" && it.id === call.toolCallId)
    return withInput(call, entry?.kind === "tool" ? entry.input : undefined)
  })
  return yield* told.pipe(
    Effect.repeat({ while: namesNothing, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOrElse({ duration: "1 second", orElse: () => Effect.succeed(call) })
  )
})

/** Gives the answer to a request for a permission; a refusal without words ends the turn. */
export const answerPermission = Effect.fnUntraced(function* (
  asking: Asking,
  { options, sessionId, toolCall: requested }: RequestPermissionRequest
) {
  const session = asking.sessions.get(sessionId)
  const live = session?.live
  // Nobody prompted it: what it wants to do now, nobody has asked for.
  if (session === undefined || live === undefined || live.aborted) return withdrawn
  const at = { sessionId: session.record.id, causePromptId: live.messageId }
  const { loadedIn } = session
  const told = loadedIn === undefined ? requested : inFull(loadedIn.initialized, requested)
  const toolCall = yield* completed(session, told)
  const promptId = `${toolCall.toolCallId}-${randomUUID()}`
  const allow = choosing(optionOf(options, allowing))
  const reject = choosing(optionOf(options, rejecting))
  const { directory, permissions } = session.record
  const protectedPaths = () => Effect.runPromise(asking.sandbox.protectedPaths(directory))
  const where = { directory, permissions, protectedPaths }
  const wanted = yield* Effect.promise(() => toolRequestOf(toolCall, where))
  const rules = yield* asking.rules.rules
  const decision = decide(rules, wanted)
  if (decision._tag === "deny") {
    const { rule } = decision
    const { text } = permissionPrompt(promptId, toolCall, [], at)
    yield* tell(asking, { type: "refused", ...at, promptId, text, rule })
    live.toSay.push(refusalOf(rule))
    return reject
  }
  if (decision._tag === "allow") return allow
  const mayApprove = decision._tag === "unsaid" && !isUnclear(toolCall, wanted, heldBack(rules))
  const sandboxed = session.loadedIn?.sandboxed === true
  if (mayApprove && (yield* Effect.promise(() => isApproved(wanted, where, sandboxed)))) return allow
  const always = rememberable(rules, wanted)
  const reply = yield* ask(asking, live, permissionPrompt(promptId, toolCall, always, at))
  if (reply === undefined) return withdrawn
  if (reply.kind !== "permission" || reply.reply === "reject") {
    const words = reply.kind === "permission" ? reply.message : undefined
    if (words === undefined) live.refused = true
    else live.toSay.push(words)
    return reject
  }
  if (reply.reply === "always") yield* asking.rules.remember(always)
  return allow
})

/** Gives the answer to a form. A form without a running turn is cancelled: no human would see it. */
export const answerElicitation = Effect.fnUntraced(function* (asking: Asking, request: unknown) {
  const cancelled = { action: "cancel" }
  const form = Option.getOrUndefined(decodeForm(request))
  const session = form === undefined ? undefined : asking.sessions.get(form.sessionId)
  const live = session?.live
  if (form === undefined || session === undefined || live === undefined || live.aborted) return cancelled
  const at = { sessionId: session.record.id, causePromptId: live.messageId }
  const reply = yield* ask(asking, live, formPrompt(randomUUID(), form, at))
  if (reply === undefined) return cancelled
  if (reply.kind === "question" && "answers" in reply) {
    return { action: "accept", content: contentOf(form, reply.answers) }
  }
  live.refused = true
  return { action: "decline" }
})
