/** Between Claude's requests and the human who answers them. */
import type { PermissionResult } from "@anthropic-ai/claude-agent-sdk"
import { Deferred, Effect } from "effect"
import type { PromptReply } from "../AgentRuntimeShape.ts"
import type { PendingPrompt, RuntimeEvent } from "../RuntimeEvent.ts"
import type { ClaudeStateFault } from "./ClaudeUnavailable.ts"
import type { KnownSession, KnownSessions } from "./KnownSessions.ts"
import type { LiveTurn } from "./LiveTurn.ts"
import { answeredInput, isApproved, permissionPrompt, questionPrompt, questionsOf, requestKey } from "./permissions.ts"
import { changePrompted } from "./SessionRecord.ts"

export interface Asking {
  readonly sessions: KnownSessions
  readonly known: KnownSession
  readonly live: LiveTurn
  readonly tell: (event: RuntimeEvent) => Effect.Effect<void>
}

export interface Request {
  readonly id: string
  readonly tool: string
  readonly input: Record<string, unknown>
}

/** Puts a prompt before a human and waits, for ever; an interruption takes it back. */
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

/** Ends the turn: written down first, for a turn that was refused and one that was aborted look alike. */
const refuse = Effect.fnUntraced(function* ({ known, live, sessions }: Asking, words: string) {
  yield* sessions.update(known, changePrompted(live.messageId, { refused: true }))
  return { behavior: "deny", message: words, interrupt: true } satisfies PermissionResult
})

/** What Claude is told of its request: by the session's mode, else by a human. */
export const judge = Effect.fnUntraced(function* (
  asking: Asking,
  { id, input, tool }: Request
): Effect.fn.Return<PermissionResult, ClaudeStateFault> {
  const { known, live, sessions } = asking
  const at = { sessionId: known.record.id, causePromptId: live.messageId }
  const allow = (updatedInput: Record<string, unknown>): PermissionResult => ({ behavior: "allow", updatedInput })
  if (tool === "AskUserQuestion") {
    const reply = yield* ask(asking, questionPrompt(id, questionsOf(input), at))
    if (reply.kind === "question" && "answers" in reply) return allow(answeredInput(input, reply.answers))
    return yield* refuse(asking, "The user did not answer.")
  }
  if (yield* Effect.promise(() => isApproved(tool, input, known.record))) return allow(input)
  const reply = yield* ask(asking, permissionPrompt(id, tool, input, at))
  if (reply.kind !== "permission" || reply.reply === "reject") {
    const words = reply.kind === "permission" ? reply.message : undefined
    return yield* refuse(asking, words ?? "The user refused.")
  }
  if (reply.reply === "always") {
    const key = requestKey(tool, input)
    yield* sessions.update(known, (record) => ({ ...record, allowed: [...new Set([...record.allowed, key])] }))
  }
  return allow(input)
})
