/** How an agent gets a session again that it kept, and how its conversation is read. */
import { Effect } from "effect"
import { requireTrustedSettings } from "../../ProjectSettings.ts"
import { type AcpAdapter, callFailed, callForSession, reach, rightsIn } from "../AcpAdapter.ts"
import { Conversation } from "../conversation/Conversation.ts"
import { authRequired, missing } from "../failures.ts"
import { type AgentProcess, CallRefused, canLoad } from "../process/AgentProcess.ts"
import { agentMethods } from "../process/methods.ts"
import { type AcpSession, isAtWork } from "./AcpSession.ts"
import { optionsIn } from "./configOptions.ts"

/** Makes the agent replay the conversation, which then is what it says. Fails with `CallRefused` if the agent has lost it. */
const replay = Effect.fnUntraced(function* (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) {
  const conversation = new Conversation()
  session.replay = conversation
  const { directory: cwd, id: sessionId } = session.record
  const answer = yield* callForSession(adapter, process, agentMethods.loadSession, {
    sessionId,
    cwd,
    mcpServers: []
  }).pipe(Effect.ensuring(Effect.sync(() => (session.replay = undefined))))
  session.conversation = conversation
  session.loadedIn = process
  return answer
})

/** Reads the conversation again, where the agent can tell it. One that cannot now is believed as it was heard. */
export const reread = (adapter: AcpAdapter, session: AcpSession, process: AgentProcess) =>
  canLoad(process) && !process.ended()
    ? Effect.ignore(replay(adapter, session, process).pipe(session.loading.withPermits(1)))
    : Effect.void

/** An agent that wants a login first has lost nothing. */
const isLost = (error: unknown): boolean => error instanceof CallRefused && error.code !== authRequired

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
    if (!canLoad(process)) return yield* missing(operation, session.record.id)
    const answer = yield* replay(adapter, session, process).pipe(
      Effect.mapError((error) =>
        isLost(error) ? missing(operation, session.record.id) : callFailed(adapter, operation)(error)
      )
    )
    session.configOptions = optionsIn(answer)
    return process
  }).pipe(session.loading.withPermits(1))
