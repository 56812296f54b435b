/** Opens a session on its runtime: an empty one, or a fork of another. */

import { ActorConfig, type Broker, type Messenger, type WorkContext, type WorkFault } from "@reprise/actor"
import { type AgentError, AgentRuntimes } from "@reprise/agent"
import { defined } from "@reprise/protocol"
import { Effect } from "effect"
import type { SessionReport } from "../session/inputs.ts"
import type { WorkOf } from "../session/work.ts"
import { forkSession, type NoFork, type Opened } from "./forkSession.ts"
import { readEarlierConversation } from "./reconstruct.ts"
import { reportTo } from "./report.ts"
import { unreachable } from "./runtimeSession.ts"
import { UncommittedChanges } from "./uncommitted.ts"

type Needs = AgentRuntimes | Broker | Messenger

/**
 * A process that dies after opening the session and before reporting it leaves an empty one behind, which nobody
 * prompts: only the reported id counts.
 */
export const openSession = Effect.fn("openSession")(function* (work: WorkOf<"OpenSession">, context: WorkContext) {
  const { tell } = yield* reportTo(context)
  const { host } = yield* ActorConfig
  const runtimes = yield* AgentRuntimes
  const { directory, fork, model, permissions, role, title, transcript, turnId } = work
  const { uncommitted: looked } = work
  const uncommittedChanges = yield* UncommittedChanges
  const uncommitted = looked === undefined ? undefined : yield* uncommittedChanges(directory, looked.reviewPath)
  const earlier = transcript === undefined ? undefined : yield* readEarlierConversation(transcript, directory)
  const opening = Effect.gen(function* (): Effect.fn.Return<Opened, AgentError | NoFork | WorkFault, Needs> {
    if (fork !== undefined) return yield* forkSession(work, fork, context.key)
    const runtime = yield* runtimes.get(work.runtime)
    const runtimeSessionId = yield* runtime.create({ directory, title, permissions, role, ...defined({ model }) })
    return { runtimeSessionId, ...defined({ context: earlier }) }
  })
  const report = yield* opening.pipe(
    Effect.map(
      (opened): SessionReport => ({
        _tag: "RecordOpened",
        turnId,
        host,
        ...opened,
        ...defined({ uncommitted })
      })
    ),
    Effect.catchTags({
      AgentError: (error) => Effect.succeed(unreachable(turnId, error)),
      NoFork: ({ message }) =>
        Effect.succeed<SessionReport>({ _tag: "RecordUnreachable", turnId, kind: "runtime", message, forGood: true })
    })
  )
  yield* tell("opened", report)
})
