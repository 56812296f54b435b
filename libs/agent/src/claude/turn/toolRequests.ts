/** Answers Claude's requests to use a tool or to ask a question: by the session's mode, else by asking a human. */
import type { PermissionResult } from "@anthropic-ai/claude-agent-sdk"
import { Deferred, Effect } from "effect"
import type { PromptReply } from "../../AgentRuntimeShape.ts"
import type { PendingPrompt, RuntimeEvent } from "../../RuntimeEvent.ts"
import type { ClaudeStateFault } from "../sdk/ClaudeSdk.ts"
import type { KnownSession, KnownSessions } from "../session/KnownSessions.ts"
import type { LiveTurn } from "../session/LiveTurn.ts"
import { changePrompted } from "../session/SessionRecord.ts"
import { answeredInput, isApproved, permissionPrompt, questionPrompt, questionsOf, requestKey } from "./permissions.ts"

interface Asking {
  readonly sessions: KnownSessions
  readonly known: KnownSession
  readonly live: LiveTurn
  /** Whether the turn's commands run in the sandbox. */
  readonly sandboxed: boolean
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
  const { known, live, sessions } = asking
  const at = { sessionId: known.record.id, causePromptId: live.messageId }
  const allow = (updatedInput: Record<string, unknown>): PermissionResult => ({ behavior: "allow", updatedInput })
  if (tool === "AskUserQuestion") {
    const reply = yield* ask(asking, questionPrompt(id, questionsOf(input), at))
    if (reply.kind === "question" && "answers" in reply) return allow(answeredInput(input, reply.answers))
    return yield* refuse(asking, "The user did not answer.")
  }
  if (yield* Effect.promise(() => isApproved(tool, input, known.record, asking.sandboxed))) return allow(input)
  const reply = yield* ask(asking, permissionPrompt(id, tool, input, at))
  if (reply.kind !== "permission" || reply.reply === "reject") {
    const words = reply.kind === "permission" ? reply.message : undefined
    // An interrupted turn would never read the words: with them, it goes on.
    if (words !== undefined) return { behavior: "deny", message: words, interrupt: false }
    return yield* refuse(asking, "The user refused.")
  }
  if (reply.reply === "always") {
    const key = requestKey(tool, input)
    yield* sessions.update(known, (record) => ({ ...record, allowed: [...new Set([...record.allowed, key])] }))
  }
  return allow(input)
})
