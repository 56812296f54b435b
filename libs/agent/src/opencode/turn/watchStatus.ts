/** Polls a session's status while the request of a turn is open, and notices what the request cannot report. */
import type { Session, SessionStatus } from "@opencode-ai/sdk/v2/client"
import { Clock, Effect } from "effect"
import { type AgentError, promptFailed } from "../../AgentError.ts"
import { steadyMs } from "../../steadyMs.ts"
import { kindOfRetry } from "../events/ActivityTracker.ts"
import type { Calls } from "../server/calls.ts"

/** Consecutive polls that must see an idle session before its turn counts as ended although no answer came. */
const idlePolls = 3

/** Why waiting for the request has ended. An error: OpenCode has waited too long for the model's vendor. */
export type RequestEnd = "answered" | "lost" | "idle" | "clock-set-back" | AgentError

interface WatchOptions {
  readonly calls: Calls
  readonly pollMs: number
  readonly patienceMs: number
}

interface Watch {
  /** When OpenCode began to wait for the provider, by the steady clock. */
  waitingSince: number | undefined
  idle: number
}

/** Counts idle polls, and gives up on a vendor that takes too long. */
const judgeStatus = (
  watch: Watch,
  status: SessionStatus,
  { now, wallMs }: { readonly now: number; readonly wallMs: number },
  patienceMs: number
): RequestEnd | undefined => {
  watch.idle = status.type === "idle" ? watch.idle + 1 : 0
  if (status.type !== "retry") {
    watch.waitingSince = undefined
    return watch.idle >= idlePolls ? "idle" : undefined
  }
  watch.waitingSince ??= now
  const retryAfterMs = Math.max(0, status.next - wallMs)
  if (retryAfterMs <= patienceMs && now - watch.waitingSince <= patienceMs) return undefined
  return promptFailed({ kind: kindOfRetry(status.message), detail: status.message, sessionUsable: true, retryAfterMs })
}

/** Ends when the session is idle or the vendor takes too long; fails when the server does not answer for too long. */
export const watchStatus = Effect.fnUntraced(function* (options: WatchOptions, { directory, id }: Session) {
  const { calls, patienceMs, pollMs } = options
  const { answered, unanswered } = yield* calls.listening("prompt")
  const watch: Watch = { waitingSince: undefined, idle: 0 }
  const poll = Effect.gen(function* () {
    const seen = yield* Effect.result(
      calls.once("status", (client, signal) => client.session.status({ directory }, { signal }), { timeoutMs: 5000 })
    )
    if (seen._tag === "Failure") {
      return yield* unanswered(seen.failure._tag === "Unreachable" ? seen.failure.reason : seen.failure.message)
    }
    yield* answered
    const times = { now: yield* steadyMs, wallMs: yield* Clock.currentTimeMillis }
    return judgeStatus(watch, seen.success[id] ?? { type: "idle" }, times, patienceMs)
  })
  return yield* Effect.repeat(Effect.delay(poll, `${pollMs} millis`), { until: (end) => end !== undefined })
})
