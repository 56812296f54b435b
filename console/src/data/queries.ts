/** What the pages show, by key. The live events keep it current, so nothing is asked for again by time. */
import { Conversation } from "@reprise/agent/message"
import {
  ConsoleChanges,
  ConsoleDryRun,
  ConsoleEvent,
  ConsoleForked,
  ConsoleLink,
  ConsoleOutcome,
  ConsolePlan,
  ConsolePreview,
  type ConsoleRunRequest,
  ConsoleSetting,
  ConsoleStarted,
  ConsoleText,
  EscalationView,
  RunView,
  SessionView
} from "@reprise/protocol"
import { QueryClient, queryOptions } from "@tanstack/react-query"
import { Schema } from "effect"
import { pushNow } from "../notices/push.ts"
import { ApiFailure, reading, sending } from "./api.ts"
import { openQuestions } from "./questions.ts"
import { withNewer } from "./timeline.ts"

const readQuestions = reading(Schema.Array(EscalationView))
const readQuestion = reading(EscalationView)
const readChanges = reading(ConsoleChanges)
const readTexts = reading(Schema.Array(ConsoleText))
const readRuns = reading(Schema.Array(RunView))
const readRun = reading(RunView)
const readStory = reading(Schema.Array(ConsoleEvent))
const readSession = reading(SessionView)
const readSessions = reading(Schema.Array(SessionView))
const readConversation = reading(Conversation)
const readPlans = reading(Schema.Array(ConsolePlan))
const readSettings = reading(Schema.Array(ConsoleSetting))
const askDryRun = sending(ConsoleDryRun)
const lookAtLink = sending(ConsoleLink)
export const sendFork = sending(ConsoleForked)
export const sendStart = sending(ConsoleStarted)
export const sendCommand = sending(ConsoleOutcome)
export const askPreview = sending(ConsolePreview)

const passing: ReadonlySet<number> = new Set([0, 429, 503])

/** Whether it may pass by itself. */
const mayPass = (error: Error): boolean => error instanceof ApiFailure && passing.has(error.status)

const isWorthRetrying = (failures: number, error: Error): boolean => failures < 5 && mayPass(error)

/** For what an event has changed: no other event may come, so it is tried until it is read. */
export const untilRead = {
  staleTime: 0,
  retry: (_failures: number, error: Error) => mayPass(error),
  retryDelay: (failures: number) => Math.min(10_000, 500 * 2 ** failures)
} as const

export const makeQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        retry: isWorthRetrying,
        retryDelay: 500,
        refetchOnWindowFocus: false
      }
    }
  })

/** Questions and runs as they were looked up after an event: newer than any list. */
export const lookedUp = {
  questions: new Map<string, EscalationView>(),
  runs: new Map<string, RunView>(),
  /** The newest events of each run: one that comes while a story is being read must not get lost. */
  events: new Map<string, ReadonlyArray<ConsoleEvent>>()
}

export const questionsQuery = queryOptions({
  queryKey: ["questions"],
  queryFn: async () => openQuestions(await readQuestions("questions"), lookedUp.questions)
})

export const questionQuery = (id: string) =>
  queryOptions({ queryKey: ["question", id], queryFn: () => readQuestion(`questions/${id}`) })

/** The browser's own settings may change while no page is looked at. */
export const pushQuery = queryOptions({
  queryKey: ["push"],
  queryFn: pushNow,
  staleTime: 0,
  refetchOnWindowFocus: true
})

export const changesQuery = (id: string) =>
  queryOptions({ queryKey: ["changes", id], queryFn: () => readChanges(`questions/${id}/changes`), gcTime: 60_000 })

export const logsQuery = (id: string) =>
  queryOptions({ queryKey: ["logs", id], queryFn: () => readTexts(`questions/${id}/logs`), gcTime: 60_000 })

/** Newest first. */
export const withRuns = (runs: ReadonlyArray<RunView>, newer: ReadonlyMap<string, RunView>): ReadonlyArray<RunView> => {
  const byId = new Map(runs.map((run) => [run.runId as string, run]))
  for (const [id, run] of newer) byId.set(id, run)
  return [...byId.values()].toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
}

export const runsQuery = queryOptions({
  queryKey: ["runs"],
  queryFn: async () => withRuns(await readRuns("runs"), lookedUp.runs)
})

export const runQuery = (id: string) => queryOptions({ queryKey: ["run", id], queryFn: () => readRun(`runs/${id}`) })

export const storyQuery = (id: string) =>
  queryOptions({
    queryKey: ["story", id],
    queryFn: async () => withNewer(await readStory(`runs/${id}/events`), lookedUp.events.get(id) ?? [])
  })

/** Whoever has only a link hears no events, so it is looked at again. */
export const linkQuery = (link: string) =>
  queryOptions({
    queryKey: ["link", link],
    queryFn: () => lookAtLink("link", { link }),
    refetchInterval: ({ state }) => (state.data?.state === "open" ? 5_000 : false)
  })

export const sessionsQuery = (runId: string) =>
  queryOptions({ queryKey: ["sessions", runId], queryFn: () => readSessions(`runs/${runId}/sessions`) })

export const sessionQuery = (id: string) =>
  queryOptions({ queryKey: ["session", id], queryFn: () => readSession(`sessions/${id}`) })

export const conversationQuery = (id: string) =>
  queryOptions({ queryKey: ["conversation", id], queryFn: () => readConversation(`sessions/${id}/conversation`) })

/** Files change without an event, so they are read whenever the page is opened. */
export const plansQuery = queryOptions({ queryKey: ["plans"], queryFn: () => readPlans("plans"), staleTime: 0 })
export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: () => readSettings("settings"),
  staleTime: 0
})

export const dryRunQuery = (wanted: ConsoleRunRequest) =>
  queryOptions({
    queryKey: ["dry-run", wanted],
    queryFn: () => askDryRun("plans/dry-run", wanted),
    staleTime: 0,
    gcTime: 0
  })
