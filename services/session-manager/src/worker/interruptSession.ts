/** Stops what a session does, and answers what its agent asks. */
import type { WorkContext } from "@reprise/actor"
import { type AgentRuntimeShape, AgentRuntimes, type PendingPrompt, type PromptReply } from "@reprise/agent"
import { Effect } from "effect"
import type { SessionWork } from "../domain/messages.ts"
import { LiveTurns } from "../LiveTurns.ts"
import { reportTo } from "./reportTo.ts"

type Work<Tag extends SessionWork["_tag"]> = Extract<SessionWork, { readonly _tag: Tag }>

const stopTries = 20

/**
 * Aborts on the runtime until nothing runs: a prompt that was on its way when the first abort arrived starts after it.
 * A runtime that does not answer runs nothing that would go on by itself.
 */
export const stopOnRuntime = Effect.fn("stopOnRuntime")(
  function* (runtime: AgentRuntimeShape, id: string) {
    for (let tries = 0; tries < stopTries; tries++) {
      yield* runtime.abort(id)
      const { state } = yield* runtime.inspect(id)
      if (state._tag === "idle" || state._tag === "empty" || state._tag === "missing") return
      yield* Effect.sleep("250 millis")
    }
  },
  (stopping) => Effect.ignore(stopping)
)

export const interruptSession = Effect.fn("interruptSession")(function* (
  work: Work<"InterruptSession">,
  context: WorkContext
) {
  const runtimes = yield* AgentRuntimes
  const live = yield* LiveTurns
  yield* live.interrupt(context.key)
  yield* runtimes.get(work.runtime).pipe(
    Effect.flatMap((runtime) => stopOnRuntime(runtime, work.runtimeSessionId)),
    Effect.ignore
  )
})

/** One line for each of several questions; a label of the question's options, or free text. */
export const replyOf = (work: Pick<Work<"SendReply">, "kind" | "reply">, asked?: PendingPrompt): PromptReply => {
  if (work.kind === "permission") {
    const reply = work.reply === "once" || work.reply === "always" ? work.reply : "reject"
    return { kind: "permission", reply }
  }
  const questions = asked?.questions.length ?? 1
  if (questions <= 1) return { kind: "question", answers: [[work.reply]] }
  const lines = work.reply.split("\n")
  return { kind: "question", answers: Array.from({ length: questions }, (_, n) => (lines[n] ? [lines[n]] : [])) }
}

/**
 * An answer that has arrived is told to have, so that it is never taken for the answer to the same request asked anew.
 * Nobody waits for it any more: then there is nothing to do, and the watcher of the turn says so.
 */
export const sendReply = Effect.fn("sendReply")(function* (work: Work<"SendReply">, context: WorkContext) {
  const { tell } = yield* reportTo(context)
  const runtimes = yield* AgentRuntimes
  const became = yield* Effect.gen(function* () {
    const runtime = yield* runtimes.get(work.runtime)
    const pending = yield* runtime.pendingPrompts(work.directory)
    const asked = pending.find((prompt) => prompt.promptId === work.promptId)
    const { promptId, runtimeSessionId } = work
    return yield* runtime.reply({ runtimeSessionId, promptId, reply: replyOf(work, asked) })
  }).pipe(Effect.catch((error) => Effect.logWarning(`the answer was not delivered: ${error.message}`)))
  if (became === "delivered") yield* tell("delivered", { _tag: "RecordPromptGone", promptId: work.promptId })
})
