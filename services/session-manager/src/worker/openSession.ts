/** Makes or looks at a runtime session before a turn's first prompt. */
import { ActorConfig, type WorkContext } from "@reprise/actor"
import { type AgentError, AgentRuntimes } from "@reprise/agent"
import { Effect } from "effect"
import type { SessionReport, SessionWork } from "../domain/messages.ts"
import { readContext } from "../transcript/readContext.ts"
import { reportTo } from "./reportTo.ts"

type Work<Tag extends SessionWork["_tag"]> = Extract<SessionWork, { readonly _tag: Tag }>

const unreachable = (turnId: Work<"OpenSession">["turnId"], error: AgentError): SessionReport => ({
  _tag: "RecordUnreachable",
  turnId,
  kind: error.kind === "gone" ? "gone" : error.kind === "unauthorized" ? "unauthorized" : "other",
  message: error.detail
})

/**
 * A process that dies between making the session and telling leaves an empty one behind, which nobody prompts: the id
 * that is told is the one that counts.
 */
export const openSession = Effect.fn("openSession")(function* (work: Work<"OpenSession">, context: WorkContext) {
  const { tell } = yield* reportTo(context)
  const { host } = yield* ActorConfig
  const runtimes = yield* AgentRuntimes
  const { directory, model, permissions, title, turnId } = work
  const said = work.transcript === undefined ? undefined : yield* readContext(work.transcript, directory)
  const spoken = said === undefined ? {} : { context: said }
  const report = yield* runtimes.get(work.runtime).pipe(
    Effect.flatMap((runtime) =>
      runtime.create({ directory, title, permissions, ...(model === undefined ? {} : { model }) })
    ),
    Effect.match({
      onSuccess: (runtimeSessionId): SessionReport => ({
        _tag: "RecordOpened",
        turnId,
        runtimeSessionId,
        host,
        ...spoken
      }),
      onFailure: (error) => unreachable(turnId, error)
    })
  )
  yield* tell("opened", report)
})

export const inspectSession = Effect.fn("inspectSession")(function* (
  work: Work<"InspectSession">,
  context: WorkContext
) {
  const { tell } = yield* reportTo(context)
  const runtimes = yield* AgentRuntimes
  const { turnId } = work
  const report = yield* runtimes.get(work.runtime).pipe(
    Effect.flatMap((runtime) => runtime.inspect(work.runtimeSessionId)),
    Effect.match({
      onSuccess: ({ messageCount, state }): SessionReport => ({
        _tag: "RecordInspected",
        turnId,
        found: state._tag === "missing" || state._tag === "empty" ? state._tag : "usable",
        messages: messageCount
      }),
      onFailure: (error) => unreachable(turnId, error)
    })
  )
  yield* tell("inspected", report)
})
