/** A turn in progress on OpenCode, and what is asked about it. */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { Effect, Schedule } from "effect"
import { type AgentError, promptFailed } from "../../AgentError.ts"
import type { Prompt } from "../../AgentRuntimeShape.ts"
import type { EventFeed } from "../events/EventFeed.ts"
import type { Calls, Refused } from "../server/calls.ts"
import { shortenParts } from "../session/shortenParts.ts"
import type { ContextLimit } from "./contextLimits.ts"
import type { MessageTimes } from "./MessageTimes.ts"

export interface TurnOptions {
  readonly calls: Calls
  readonly feed: EventFeed
  readonly pollMs: number
  /** How long OpenCode may wait for the model's vendor before the turn fails. */
  readonly patienceMs: number
  readonly limitOf: ContextLimit
}

/** A turn in progress: what it works with, and how its tries went so far. */
export interface TurnRun {
  readonly options: TurnOptions
  readonly session: Session
  readonly prompt: Prompt
  /** Requests that were sent for it. */
  sends: number
  /** Tries in a row that added no message. */
  fruitless: number
  /** Of these, those that lost their server. Whoever restarts the server gives it up; its turns do not. */
  lost: number
  /** Messages in the session before the latest try. */
  messageCount: number | undefined
  /** When the session's messages were made. */
  times: MessageTimes
}

export const other = (detail: string) => promptFailed({ kind: "other", detail, sessionUsable: true })

export const refused = ({ session }: TurnRun, error: Refused): AgentError =>
  error.status === 404
    ? promptFailed({ kind: "session-missing", detail: `OpenCode has no session ${session.id}.`, sessionUsable: false })
    : other(`${error.message}. Look at OpenCode's log, or start a new session.`)

export const listMessages = (run: TurnRun) => {
  const { directory, id: sessionID } = run.session
  return run.options.calls
    .reaching("messages", (client, signal) => client.session.messages({ sessionID, directory }, { signal }))
    .pipe(
      Effect.flatMap((messages) => shortenParts(run.options.calls, run.session, messages)),
      Effect.catchTag("Refused", (error) => Effect.fail(refused(run, error)))
    )
}

export const isBusy = (run: TurnRun) => {
  const { directory, id } = run.session
  return run.options.calls
    .reaching("status", (client, signal) => client.session.status({ directory }, { signal }))
    .pipe(
      Effect.map((all) => (all[id]?.type ?? "idle") !== "idle"),
      Effect.catchTag("Refused", (error) => Effect.fail(refused(run, error)))
    )
}

/** Stops what runs, and waits until nothing does. */
export const stop = Effect.fnUntraced(function* (run: TurnRun) {
  const { directory, id: sessionID } = run.session
  yield* Effect.ignore(
    run.options.calls.once("abort", (client, signal) => client.session.abort({ sessionID, directory }, { signal }))
  )
  yield* Effect.repeat(isBusy(run), { while: (busy) => busy, schedule: Schedule.spaced("50 millis"), times: 100 })
})
