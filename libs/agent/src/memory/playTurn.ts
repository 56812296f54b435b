/** Plays one turn of a script in a memory session. */
import { defined, noTokens, type Tokens } from "@reprise/protocol"
import { Clock, Deferred, Effect } from "effect"
import { AgentError } from "../AgentError.ts"
import type { PromptReply } from "../AgentRuntimeShape.ts"
import type { ContentBlock } from "../Message.ts"
import type { PendingPrompt, RuntimeEvent } from "../RuntimeEvent.ts"
import type { MemoryControl, MemoryScript, MemoryStep } from "./MemoryScript.ts"
import type { MemoryMessage, MemorySession, RunningTurn } from "./MemorySession.ts"

export interface Play {
  readonly session: MemorySession
  readonly turn: RunningTurn
  readonly text: string
  readonly script: MemoryScript
  readonly control: MemoryControl
  readonly tell: (event: RuntimeEvent) => Effect.Effect<void>
}

const permissionOptions = [
  { name: "once", label: "Allow once" },
  { name: "always", label: "Allow always" },
  { name: "reject", label: "Reject" }
]

/** Publishes a prompt for a human and waits for the answer. */
const ask = Effect.fnUntraced(function* (play: Play, prompt: PendingPrompt) {
  const answer = yield* Deferred.make<PromptReply>()
  play.turn.waiting = { prompt, answer }
  yield* play.tell({ type: "prompting", ...prompt })
  const reply = yield* Deferred.await(answer)
  play.turn.waiting = undefined
  const { causePromptId, promptId, sessionId } = prompt
  yield* play.tell({ type: "replied", sessionId, promptId, ...defined({ causePromptId }) })
  return reply
})

/** Completes `turn.end`, unless it is interrupted: then the interrupter completes it. */
export const playTurn = Effect.fnUntraced(function* (play: Play): Effect.fn.Return<void> {
  const { control, script, session, tell, text, turn } = play
  const cause = turn.messageId
  const at = { sessionId: session.id, causePromptId: cause }
  const attempt = (session.attempts.get(cause) ?? 0) + 1
  session.attempts.set(cause, attempt)
  const users = session.messages.filter(({ message }) => message.role === "user").length
  const steps = script({ sessionId: session.id, text, turn: users, attempt })
  const content: Array<ContentBlock> = []
  let tokens: Tokens = noTokens
  let toolCalls = 0
  let asked = 0

  const write = Effect.fnUntraced(function* (end: MemoryMessage["end"]) {
    session.write(cause, [...content], { atMs: yield* Clock.currentTimeMillis, end, tokens, toolCalls })
  })
  const finish = Effect.fnUntraced(function* (end: "finished" | "refused") {
    yield* write(end)
    yield* Deferred.succeed(turn.end, session.outcomeOf(cause))
  })
  const prompt = (kind: PendingPrompt["kind"], words: string, options: PendingPrompt["options"]): PendingPrompt => ({
    ...at,
    promptId: `${cause}-${kind}-${attempt}-${++asked}`,
    kind,
    text: words,
    options,
    questions: kind === "question" ? [{ question: words, options, multiple: false }] : []
  })
  const call = () => {
    control.countCall()
    tokens = { ...tokens, input: tokens.input + Math.ceil(text.length / 4), output: tokens.output + 1 }
  }
  /** Returns whether the turn is over. */
  const playStep = Effect.fnUntraced(function* (step: MemoryStep) {
    if ("hold" in step) {
      yield* control.hold(step.hold)
      return false
    }
    if ("hiccup" in step) {
      const hiccup = { kind: "no_internet", message: step.hiccup, recovering: true, retryAfterMs: 0 } as const
      yield* tell({ type: "failed", ...at, ...hiccup })
      call()
      return false
    }
    if ("fail" in step) {
      const { fail: kind, message, retryAfterMs } = step
      const retry = retryAfterMs === undefined ? {} : { retryAfterMs }
      yield* tell({ type: "failed", ...at, kind, message, recovering: false, ...retry })
      yield* write(kind === "aborted" ? "aborted" : "failed")
      const sessionUsable = kind !== "session-missing" && kind !== "context-overflow"
      yield* Deferred.succeed(
        turn.end,
        new AgentError({ kind, operation: "prompt", detail: message, sessionUsable, ...retry })
      )
      return true
    }
    if ("say" in step) {
      tokens = { ...tokens, ...step.tokens }
      content.push({ type: "text", text: step.say })
      yield* tell({ type: "working", ...at, evidence: "text" })
      yield* tell({ type: "progress", ...at, tokens })
      yield* finish("finished")
      return true
    }
    if ("refused" in step) {
      const { promptId, text: wish } = prompt("permission", step.refused, [])
      yield* tell({ type: "refused", ...at, promptId, text: wish, rule: step.rule })
      return false
    }
    if ("question" in step) {
      const options = step.options.map((name) => ({ name, label: name }))
      const reply = yield* ask(play, prompt("question", step.question, options))
      const dismissed = "dismiss" in reply
      if (dismissed) yield* finish("refused")
      else call()
      return dismissed
    }
    toolCalls++
    const id = `${cause}-tool-${toolCalls}`
    content.push({ type: "tool_use", tool_use: { id, name: step.tool, input: {} } })
    yield* write(undefined)
    if (step.ask !== undefined && session.mode !== "all") {
      const reply = yield* ask(play, prompt("permission", step.ask, permissionOptions))
      if (reply.kind === "permission" && reply.reply === "reject") {
        const said = reply.message === undefined ? "" : ` ${reply.message}`
        const result = { toolUseId: id, output: `The user refused.${said}`, isError: true }
        content.push({ type: "tool_result", tool_result: result })
        if (reply.message !== undefined) return false
        yield* finish("refused")
        return true
      }
    }
    yield* tell({ type: "working", ...at, evidence: "tool" })
    yield* tell({ type: "progress", ...at, tool: step.tool, tokens })
    content.push({ type: "tool_result", tool_result: { toolUseId: id, output: step.output ?? "", isError: false } })
    call()
    return false
  })

  call()
  yield* write(undefined)
  for (const step of [...steps, { say: "Done." }]) {
    if (yield* playStep(step)) return
  }
})
