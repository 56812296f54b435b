/**
 * Keeps what the pages show current: the events of all runs, by server-sent events. A browser connects again by itself
 * and names the last event it has seen, so that nothing is missed; what comes twice is left out by its sequence.
 */
import { ConsoleConnected, ConsoleEvent, type EscalationView, type PublicEvent } from "@reprise/protocol"
import type { QueryClient } from "@tanstack/react-query"
import { Schema } from "effect"
import { ApiFailure } from "./api.ts"
import { lookedUp, questionQuery, questionsQuery, runQuery, runsQuery, withRuns } from "./queries.ts"
import { openQuestions } from "./questions.ts"
import { withNewer } from "./timeline.ts"

export type Connection = "connecting" | "live" | "lost" | "signed-out"

const readEvent = Schema.decodeUnknownSync(Schema.fromJsonString(ConsoleEvent))
const readConnected = Schema.decodeUnknownSync(Schema.fromJsonString(ConsoleConnected))

/** Runs the newest call of each key, at most once in this time. */
const makeThrottle = (everyMs: number) => {
  const waiting = new Map<string, () => void>()
  const resting = new Set<string>()
  const run = (key: string, action: () => void) => {
    if (resting.has(key)) {
      waiting.set(key, action)
      return
    }
    resting.add(key)
    action()
    setTimeout(() => {
      resting.delete(key)
      const next = waiting.get(key)
      waiting.delete(key)
      if (next !== undefined) run(key, next)
    }, everyMs)
  }
  return run
}

const keptEvents = 200

const isOfQuestion = (event: PublicEvent): event is Extract<PublicEvent, { readonly escalationId: string }> =>
  "escalationId" in event && event._tag.startsWith("Escalation")

const ignore = () => undefined

const makeRefresh = (client: QueryClient) => {
  const throttled = makeThrottle(250)

  /** A fetch that runs already may have begun before the event. */
  const lookUp = async <A>(key: ReadonlyArray<string>, read: () => Promise<A>): Promise<A> => {
    await client.cancelQueries({ queryKey: key })
    return read()
  }

  const question = (id: string) =>
    lookUp(["question", id], () => client.fetchQuery({ ...questionQuery(id), staleTime: 0 })).then(
      (view: EscalationView) => {
        lookedUp.questions.set(id, view)
        client.setQueryData(questionsQuery.queryKey, (old) => old && openQuestions(old, lookedUp.questions))
      },
      ignore
    )

  const run = (id: string) =>
    throttled(`run ${id}`, () => {
      lookUp(["run", id], () => client.fetchQuery({ ...runQuery(id), staleTime: 0 })).then((view) => {
        lookedUp.runs.set(id, view)
        client.setQueryData(runsQuery.queryKey, (old) => old && withRuns(old, lookedUp.runs))
      }, ignore)
    })

  const sessions = (event: PublicEvent) => {
    if (!("sessionId" in event) || event.sessionId === undefined) return
    const { runId, sessionId } = event
    throttled(`session ${sessionId}`, () => {
      client.invalidateQueries({ queryKey: ["sessions", runId] })
      client.invalidateQueries({ queryKey: ["session", sessionId] })
      client.invalidateQueries({ queryKey: ["conversation", sessionId] })
    })
  }

  return { question, run, sessions }
}

/** Connects until it is stopped. `onEvent` gets each event once. */
export const connect = (
  client: QueryClient,
  onConnection: (connection: Connection) => void,
  onEvent: (event: ConsoleEvent) => void = ignore
): (() => void) => {
  const refresh = makeRefresh(client)
  let last = 0
  let source: EventSource | undefined
  let again: ReturnType<typeof setTimeout> | undefined

  const take = (seen: ConsoleEvent) => {
    if (seen.sequence <= last) return
    last = seen.sequence
    const { event } = seen
    if (event._tag !== "TurnProgress") {
      const newest = [...(lookedUp.events.get(event.runId) ?? []), seen].slice(-keptEvents)
      lookedUp.events.set(event.runId, newest)
      client.setQueryData<ReadonlyArray<ConsoleEvent>>(["story", event.runId], (old) => old && withNewer(old, [seen]))
    }
    if (isOfQuestion(event)) refresh.question(event.escalationId)
    refresh.run(event.runId)
    refresh.sessions(event)
    onEvent(seen)
  }

  const begin = () => {
    source = new EventSource("/api/events")
    source.addEventListener("connected", ({ data }) => {
      onConnection("live")
      if (readConnected(data).resumed) return
      // Something may have been missed: everything that is shown is read again.
      last = 0
      lookedUp.events.clear()
      client.invalidateQueries()
    })
    source.addEventListener("event", ({ data }) => take(readEvent(data)))
    source.addEventListener("error", () => {
      onConnection("lost")
      // The browser connects again by itself, unless it was refused.
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(checkSession, 2_000)
    })
  }

  const checkSession = () => {
    client.fetchQuery({ ...questionsQuery, staleTime: 0, retry: false }).then(begin, (error) => {
      if (error instanceof ApiFailure && error.status === 401) onConnection("signed-out")
      else again = setTimeout(checkSession, 2_000)
    })
  }

  begin()
  return () => {
    source?.close()
    clearTimeout(again)
  }
}
