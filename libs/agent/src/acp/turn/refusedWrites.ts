/**
 * Files that the sandbox does not let an agent write. The agent runs inside as a whole, so what its tools say of such a file
 * is decided about while it goes on; one that was allowed more is started again when its turn would end, and told.
 */
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import type { SandboxShape } from "@reprise/sandbox"
import { Deferred, Effect } from "effect"
import { canLoad } from "../process/AgentProcess.ts"
import { rightsOf } from "../process/rights.ts"
import { type AcpSession, isAtWork, type LiveTurn } from "../session/AcpSession.ts"
import { toolWords } from "./toolWords.ts"

interface Hearing {
  readonly sandbox: SandboxShape
  /** Of the agent's command. */
  readonly key: string
  readonly sessions: ReadonlyMap<string, AcpSession>
  readonly runPromise: <A>(decision: Effect.Effect<A>) => Promise<A>
}

/** Each tool call is heard once: some agents tell its end twice. */
export const hearTool = (hearing: Hearing, session: AcpSession, live: LiveTurn, update: SessionUpdate): void => {
  const rights = rightsOf(hearing.sandbox, session.record)
  if (rights._tag === "outside" || session.loadedIn?.sandboxed !== true) return
  const said = toolWords(update)
  if (said === undefined || !("toolCallId" in update) || live.toolsHeard.has(update.toolCallId)) return
  live.toolsHeard.add(update.toolCallId)
  const { directory, role } = rights
  live.deciding.push(hearing.runPromise(hearing.sandbox.openedByWords({ directory, role, name: hearing.key }, said)))
}

export const mayWriteNow = (place: string): string =>
  `reprise: you may write in ${place} now, until the end of this turn. Do again what failed.`

/** Waits for what is being decided. Then the agent is to go on, with more rights, if something was allowed. */
export const settleWrites = Effect.fnUntraced(function* (hearing: Hearing, session: AcpSession, live: LiveTurn) {
  const decided = Effect.promise(() => Promise.all(live.deciding.splice(0)))
  const places = yield* Effect.raceFirst(
    Effect.map(decided, (all) => [...new Set(all.flat())]),
    Effect.as(Deferred.await(live.stopped), [])
  )
  const process = session.loadedIn
  if (places.length === 0 || live.aborted || process === undefined || !canLoad(process)) return
  // It works for another session too: its mounts stay as they are.
  if (isAtWork(hearing.sessions, process, session)) return
  process.kill()
  live.widened = true
  live.toSay.push(...places.map(mayWriteNow))
})

/** What was allowed for the turn ends with it. */
export const narrow = (hearing: Hearing, session: AcpSession, live: LiveTurn): void => {
  const { loadedIn } = session
  if (live.widened && loadedIn !== undefined && !isAtWork(hearing.sessions, loadedIn, session)) loadedIn.kill()
}
