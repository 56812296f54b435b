/** A run of its own in a shared real world: its phase tells the model which part to play. */
import { AgentRuntime, promptIds } from "@reprise/agent"
import { RunId, type SessionCommand, sessionIdOf, turnIdOf } from "@reprise/protocol"
import { ScriptedModel } from "@reprise/scripted-model"
import { Effect } from "effect"
import { host, Places } from "./realWorld.ts"
import { stageOf } from "./stage.ts"
import { newTurn } from "./story.ts"

export const about = (phase: number, kind: "work" | "report" | "continue") => ({ role: "author", phase, kind }) as const

export const scene = Effect.fnUntraced(function* (phase: number, changes: Partial<ReturnType<typeof newTurn>> = {}) {
  const runId = RunId.make(`run${phase}`)
  const { directory } = yield* Places
  const model = yield* ScriptedModel
  const human = yield* AgentRuntime
  const sessionId = sessionIdOf(runId, 1)
  const stage = yield* stageOf(runId)
  const start = newTurn(1, {
    turnId: turnIdOf(runId, 1),
    runId,
    phase: String(phase),
    directory,
    host,
    permissions: "all",
    prompt: `You are the author of phase ${phase} of the plan plan.md.`,
    ...changes
  })
  const callsOf = Effect.map(model.calls, (calls) =>
    calls.filter((call) => call.phase === String(phase) && call.role === "author")
  )
  const users = (runtimeSessionId: string) =>
    Effect.map(human.history(runtimeSessionId), (messages) => messages.filter(({ role }) => role === "user"))
  return {
    ...stage,
    start,
    send: (command: SessionCommand) => stage.send(command, sessionId),
    view: stage.view(sessionId),
    sessionId,
    runId,
    callsOf,
    /** The names of the rules and steps that the model played, in their order: `works 0`. */
    played: Effect.map(callsOf, (calls) => calls.map(({ rule, step }) => `${rule} ${step}`)),
    users,
    /** Goes on in the session, as the gate's `continue` does. */
    goOn: (turn: number, guidance?: string) =>
      stage.send(
        {
          _tag: "ContinueSession",
          turnId: turnIdOf(runId, turn),
          sessionId,
          onMissing: "fail",
          ...(guidance === undefined ? {} : { guidance })
        },
        sessionId
      ),
    /** A human who is attached to the session types, and waits for the end of what that leads to. */
    type: (runtimeSessionId: string, text: string) =>
      Effect.suspend(() =>
        human.prompt({ runtimeSessionId, directory, promptId: promptIds(Date.now(), `human ${text}`, 0), text })
      )
  }
})
