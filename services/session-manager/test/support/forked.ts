/** A session that has had two turns, and a fork at one of them. */
import type { Messenger } from "@reprise/actor"
import type { MemoryScript } from "@reprise/agent"
import { Host, RunId, type SessionCommand, SessionId, TurnId } from "@reprise/protocol"
import { Effect } from "effect"
import { stage, stageOf } from "./stage.ts"
import { goodReport, newTurn, nextTurn, sessionId } from "./story.ts"

const host = Host.make("local")
export const script: MemoryScript = ({ text }) => [{ say: `I was told: ${text.slice(0, 20)}\n${goodReport}` }]
export const forkId = SessionId.make("f1")
const runId = RunId.make(forkId)

export interface Forking {
  /** Where the original works. */
  readonly directory?: string
  /** A worktree of the fork, and the repository in which it is made. */
  readonly worktree?: { readonly directory: string; readonly repository: string }
  /** Done between the turns of the original, and before the fork. */
  readonly between?: Effect.Effect<void>
  readonly before?: Effect.Effect<void, unknown, Messenger>
}

const task = "Try it otherwise."

/** The fork's events, and the original before it. */
export const forked = Effect.fnUntraced(function* (turn: number, forking: Forking = {}) {
  const { before = Effect.void, between = Effect.void, directory = "/work/repository", worktree } = forking
  const { awaitEvent, send, view } = yield* stage
  yield* send(newTurn(1, { host, directory, prompt: "The first words." }))
  yield* awaitEvent("TurnCompleted")
  yield* between
  yield* send(nextTurn(2, { host, directory, prompt: "The second words." }))
  yield* awaitEvent("TurnCompleted", 2)
  const original = yield* view()
  yield* before
  const place = worktree?.directory ?? directory
  const start: SessionCommand = {
    _tag: "StartSession",
    sessionId: forkId,
    ...{ prompt: task, runtime: "opencode", directory: place, host, permissions: "all", limits: {} },
    fork: { sessionId, turn, ...(worktree === undefined ? {} : { repository: worktree.repository }) }
  }
  const { phase: _phase, step: _step, ...anyTurn } = newTurn(1, { host, directory: place, fresh: true, prompt: task })
  yield* send(start, forkId)
  yield* send({ ...anyTurn, turnId: TurnId.make("f1-t1"), runId }, forkId, `run.${forkId}.1`)
  return { original, view, fork: yield* stageOf(runId) }
})
