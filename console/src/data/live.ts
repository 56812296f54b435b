/** Keeps what a page shows current by the events of all runs, which come from the browser's hub. */
import { ConsoleEvent, type EscalationView, type PublicEvent } from "@reprise/protocol"
import type { QueryClient } from "@tanstack/react-query"
import { Schema } from "effect"
import { listen } from "../stream/listen.ts"
import type { Connection } from "../stream/messages.ts"
import { lookedUp, questionQuery, questionsQuery, runQuery, runsQuery, untilRead, withRuns } from "./queries.ts"
import { openQuestions } from "./questions.ts"
import { withNewer } from "./timeline.ts"

const readEvent = Schema.decodeUnknownSync(Schema.fromJsonString(ConsoleEvent))

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
    lookUp(["question", id], () => client.fetchQuery({ ...questionQuery(id), ...untilRead })).then(
      (view: EscalationView) => {
        lookedUp.questions.set(id, view)
        client.setQueryData(questionsQuery.queryKey, (old) => old && openQuestions(old, lookedUp.questions))
      },
      ignore
    )

  const run = (id: string) =>
    throttled(`run ${id}`, () => {
      lookUp(["run", id], () => client.fetchQuery({ ...runQuery(id), ...untilRead })).then((view) => {
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

export interface Hearers {
  readonly onConnection: (connection: Connection) => void
  /** Gets each event once. */
  readonly onEvent: (event: ConsoleEvent) => void
  /** Gets the ids of all open questions when they were read again, and the time before that. */
  readonly onOpen: (ids: ReadonlyArray<string>, asOfMs: number) => void
}

/** Listens until it is stopped. */
export const connect = (client: QueryClient, { onConnection, onEvent, onOpen }: Hearers): (() => void) => {
  const refresh = makeRefresh(client)

  const take = (seen: ConsoleEvent) => {
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

  return listen((message) => {
    if (message.type === "connection") onConnection(message.connection)
    if (message.type === "event") take(readEvent(message.data))
    if (message.type === "connected" && !message.resumed) {
      // Something may have been missed: everything that is shown is read again.
      lookedUp.events.clear()
      const asOfMs = Date.now()
      client.invalidateQueries().then(() => {
        const { data, dataUpdatedAt } = client.getQueryState(questionsQuery.queryKey) ?? {}
        if (data === undefined || (dataUpdatedAt ?? 0) < asOfMs) return
        onOpen(
          data.map(({ escalationId }) => escalationId),
          asOfMs
        )
      }, ignore)
    }
  })
}
