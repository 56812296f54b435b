/** How an agent gets a session again that it kept, and how its conversation is read. */
import { Clock, Deferred, Effect } from "effect"
import { AgentError } from "../../AgentError.ts"
import { requireTrustedSettings } from "../../ProjectSettings.ts"
import { type AcpAdapter, callFailed, callForSession, idIn, know, reach, rightsIn, save } from "../AcpAdapter.ts"
import { Conversation } from "../conversation/Conversation.ts"
import { authRequired, missing } from "../failures.ts"
import { type AgentEnded, type AgentProcess, CallRefused, canLoad } from "../process/AgentProcess.ts"
import { loadableFromMs, refusalMeansNothing, retellsSoon, tellsLate } from "../process/deviations.ts"
import { agentMethods } from "../process/methods.ts"
import { isUnprompted } from "./AcpRecord.ts"
import { type AcpSession, isAtWork } from "./AcpSession.ts"
import { optionsIn } from "./configOptions.ts"

const untilTold = ({ call }: AgentProcess) =>
  call(agentMethods.told, {}).pipe(Effect.catchTag("CallRefused", () => Effect.void))

/** Waits until the agent can load the session; a turn that is aborted waits no more. */
const untilLoadable = Effect.fnUntraced(function* ({ live, record }: AcpSession, { initialized }: AgentProcess) {
  const fromMs = loadableFromMs(initialized, record.createdAtMs)
  const waitMs = fromMs === undefined ? 0 : fromMs - (yield* Clock.currentTimeMillis)
  if (waitMs <= 0) return
  yield* Effect.logInfo(`The agent can load its session ${record.id} only in ${Math.ceil(waitMs / 1_000)} seconds.`)
  const wait = Effect.sleep(`${waitMs} millis`)
  yield* live === undefined ? wait : Effect.raceFirst(wait, Deferred.await(live.stopped))
})

/** Makes the agent replay the conversation, which then is what it says. Fails with `CallRefused` if the agent has lost it. */
const replay = Effect.fnUntraced(function* (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) {
  const conversation = new Conversation()
  session.replay = conversation
  const answer = yield* callForSession(adapter, process, agentMethods.loadSession, {
    sessionId: session.agentId,
    cwd: session.record.directory,
    mcpServers: []
  }).pipe(
    Effect.tap(() => (tellsLate(process.initialized) ? untilTold(process) : Effect.void)),
    Effect.ensuring(Effect.sync(() => (session.replay = undefined)))
  )
  session.conversation = conversation
  session.loadedIn = process
  return answer
})

/** Reads the conversation again, where the agent can tell it. One that cannot now is believed as it was heard. */
export const reread = (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) =>
  canLoad(process) && !process.ended()
    ? untilLoadable(session, process).pipe(
        Effect.andThen(replay(adapter, session, process)),
        Effect.catchTag("CallRefused", () =>
          Effect.sync(() => {
            if (refusalMeansNothing(process.initialized)) session.conversation = new Conversation()
          })
        ),
        session.loading.withPermits(1),
        Effect.ignore
      )
    : Effect.void

/** After a turn that went well: what was heard is what was said. */
export const rereadSoon = (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) =>
  retellsSoon(process.initialized) ? reread(adapter, session, process) : Effect.void

/** Makes another one in place of a session in which nothing was said. */
const renew = Effect.fnUntraced(function* (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) {
  const { directory: cwd, id } = session.record
  const answer = yield* callForSession(adapter, process, agentMethods.newSession, { cwd, mcpServers: [] })
  const agentId = idIn(answer) ?? id
  yield* save(adapter, session, { ...session.record, agentId, createdAtMs: yield* Clock.currentTimeMillis })
  know(adapter, session)
  session.conversation = new Conversation()
  session.loadedIn = process
  return answer
})

type Lost = AgentEnded | AgentError | CallRefused

/** An agent that wants a login first has lost nothing. */
const isLost = (error: Lost): boolean =>
  error instanceof AgentError
    ? error.kind === "session-missing"
    : error instanceof CallRefused && error.code !== authRequired

/** Nobody has prompted it, or, as was seen here, its agent ended before it had said anything. */
const isBlank = ({ conversation, loadedIn, record }: AcpSession): boolean =>
  isUnprompted(record) ||
  (loadedIn !== undefined &&
    record.prompts.every(({ outcome }) => outcome === undefined) &&
    conversation.entries.every(({ kind }) => kind === "user"))

/** What the agent says of the session that it has again. Few agents keep one in which they have not said anything. */
const told = Effect.fnUntraced(function* (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) {
  const isNew = isBlank(session)
  if (!isUnprompted(session.record)) yield* untilLoadable(session, process)
  const kept: Effect.Effect<unknown, Lost> = canLoad(process)
    ? replay(adapter, session, process)
    : Effect.fail(missing("load", session.record.id))
  return yield* Effect.catchIf(
    kept,
    (error) => isNew && isLost(error),
    () => renew(adapter, session, process)
  )
})

/**
 * The agent, with the session loaded. Fails with `session-missing` if the agent has lost it, or ended and cannot load
 * sessions: nobody continues a conversation that its agent does not know.
 */
export const load = (adapter: AcpAdapter, session: AcpSession, operation: string) =>
  Effect.gen(function* () {
    const process = yield* reach(adapter, operation, rightsIn(adapter, session))
    const before = session.loadedIn
    if (before === process) return process
    // Some agents refuse a session that another process of theirs has open.
    if (before !== undefined && !before.ended() && !isAtWork(adapter.sessions, before)) before.kill()
    yield* requireTrustedSettings(adapter.projectSettings, operation, session.record.directory)
    const found = Effect.mapError(told(adapter, session, process), (error) => {
      if (error instanceof AgentError) return error
      return isLost(error) ? missing(operation, session.record.id) : callFailed(adapter, operation)(error)
    })
    session.configOptions = optionsIn(yield* found)
    return process
  }).pipe(session.loading.withPermits(1))
