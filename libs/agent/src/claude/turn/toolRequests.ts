/** Answers Claude's requests to use a tool or to ask a question: by a rule, by the session's mode, else by asking a human. */
import type { SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect } from "effect"
import type { PromptReply } from "../../AgentRuntimeShape.ts"
import type { PendingPrompt, RuntimeEvent } from "../../RuntimeEvent.ts"
import { decide, rememberable } from "../../rules/decide.ts"
import { refusalOf } from "../../rules/permissionOptions.ts"
import type { RuleBook } from "../../rules/RuleBook.ts"
import type { ClaudeStateFault } from "../sdk/ClaudeSdk.ts"
import type { PermissionResult } from "../sdk/SdkContract.ts"
import type { KnownSession, KnownSessions } from "../session/KnownSessions.ts"
import type { LiveTurn } from "../session/LiveTurn.ts"
import { changePrompted } from "../session/SessionRecord.ts"
import {
  answeredInput,
  isApproved,
  permissionPrompt,
  questionPrompt,
  questionsOf,
  toolRequestOf
} from "./claudePermissions.ts"

interface Asking {
  readonly sessions: KnownSessions
  readonly known: KnownSession
  readonly live: LiveTurn
  /** Whether the turn's commands run in the sandbox. */
  readonly sandboxed: boolean
  /** What commands may not change in a directory. */
  readonly protectedPaths: SandboxShape["protectedPaths"]
  readonly rules: RuleBook
  readonly tell: (event: RuntimeEvent) => Effect.Effect<void>
}

interface ToolRequest {
  readonly id: string
  readonly tool: string
  readonly input: Record<string, unknown>
}

/** Publishes a prompt for a human and waits for the reply, without a limit. An interruption withdraws the prompt. */
const ask = ({ live, tell }: Asking, prompt: PendingPrompt) =>
  Effect.gen(function* () {
    const answer = yield* Deferred.make<PromptReply>()
    live.waiting.set(prompt.promptId, { prompt, answer })
    yield* tell({ type: "prompting", ...prompt })
    return yield* Deferred.await(answer)
  }).pipe(
    Effect.ensuring(
      Effect.suspend(() => {
        live.waiting.delete(prompt.promptId)
        const { causePromptId, promptId, sessionId } = prompt
        const cause = causePromptId === undefined ? {} : { causePromptId }
        return tell({ type: "replied", sessionId, promptId, ...cause })
      })
    )
  )

/** Ends the turn. The refusal is recorded first, because a refused turn and an aborted one look alike. */
const refuse = Effect.fnUntraced(function* ({ known, live, sessions }: Asking, words: string) {
  yield* sessions.update(known, changePrompted(live.messageId, { refused: true }))
  return { behavior: "deny", message: words, interrupt: true } satisfies PermissionResult
})

/** Gives the answer to a request; a refusal ends the turn. */
export const answerToolRequest = Effect.fnUntraced(function* (
  asking: Asking,
  { id, input, tool }: ToolRequest
): Effect.fn.Return<PermissionResult, ClaudeStateFault> {
  const { known, live } = asking
  const at = { sessionId: known.record.id, causePromptId: live.messageId }
  const allow = (updatedInput: Record<string, unknown>): PermissionResult => ({ behavior: "allow", updatedInput })
  if (tool === "AskUserQuestion") {
    const reply = yield* ask(asking, questionPrompt(id, questionsOf(input), at))
    if (reply.kind === "question" && "answers" in reply) return allow(answeredInput(input, reply.answers))
    return yield* refuse(asking, "The user did not answer.")
  }
  const { directory, permissions } = known.record
  const protectedPaths = () => Effect.runPromise(asking.protectedPaths(directory))
  const session = { directory, permissions, protectedPaths }
  const wanted = yield* Effect.promise(() => toolRequestOf(tool, input, session))
  const rules = yield* asking.rules.rules
  const decision = decide(rules, wanted)
  if (decision._tag === "deny") {
    const { rule } = decision
    const { promptId, text } = permissionPrompt(id, { tool, input }, [], at)
    yield* asking.tell({ type: "refused", ...at, promptId, text, rule })
    return { behavior: "deny", message: refusalOf(rule), interrupt: false }
  }
  if (decision._tag === "allow") return allow(input)
  const approves = Effect.promise(() => isApproved(tool, input, session, asking.sandboxed))
  if (decision._tag === "unsaid" && (yield* approves)) return allow(input)
  const always = rememberable(rules, wanted)
  const reply = yield* ask(asking, permissionPrompt(id, { tool, input }, always, at))
  if (reply.kind !== "permission" || reply.reply === "reject") {
    const words = reply.kind === "permission" ? reply.message : undefined
    // An interrupted turn would never read the words: with them, it goes on.
    if (words !== undefined) return { behavior: "deny", message: words, interrupt: false }
    return yield* refuse(asking, "The user refused.")
  }
  if (reply.reply === "always") yield* asking.rules.remember(always)
  return allow(input)
})
