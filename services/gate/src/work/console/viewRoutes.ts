/** What is shown: open questions with their evidence, runs, sessions with their conversations. */
import { Messenger } from "@reprise/actor"
import { Conversation } from "@reprise/agent/message"
import {
  ConsoleChanges,
  ConsoleDryRun,
  ConsolePlan,
  ConsolePreview,
  ConsolePreviewRequest,
  ConsoleRunRequest,
  ConsoleSetting,
  ConsoleText,
  EscalationId,
  EscalationView,
  RunId,
  RunView,
  SessionId,
  SessionView
} from "@reprise/protocol"
import { Effect, Schema } from "effect"
import { ConsoleSources, repositorySources } from "./ConsoleSources.ts"
import { Matched, type Route } from "./Route.ts"
import { bodyOf, data } from "./replies.ts"

const reply = <A, I>(schema: Schema.Codec<A, I>) => {
  const encode = Schema.encodeSync(schema)
  return (value: A) => data(encode(value))
}

const replyQuestion = reply(EscalationView)
const replyQuestions = reply(Schema.Array(EscalationView))
const replyRun = reply(RunView)
const replyRuns = reply(Schema.Array(RunView))
const replySession = reply(SessionView)
const replySessions = reply(Schema.Array(SessionView))
const replyConversation = reply(Conversation)
const replyChanges = reply(ConsoleChanges)
const replyTexts = reply(Schema.Array(ConsoleText))
const replyPreview = reply(ConsolePreview)
const replyPlans = reply(Schema.Array(ConsolePlan))
const replyDryRun = reply(ConsoleDryRun)
const replySettings = reply(Schema.Array(ConsoleSetting))

const readKeyOf = <Id>(schema: Schema.Codec<Id, string>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return Effect.flatMap(Matched, ({ parts }) => decode(parts["id"]))
}

export const questionIdInPath = readKeyOf(EscalationId)
export const runIdInPath = readKeyOf(RunId)
const sessionIdInPath = readKeyOf(SessionId)

export const questionInPath = Effect.flatMap(questionIdInPath, (id) => Messenger.use(({ show }) => show.gate(id)))
const sessionInPath = Effect.flatMap(sessionIdInPath, (id) => Messenger.use(({ show }) => show.sessionManager(id)))

/** Of a longer list a page shows those that changed last. */
const mostListed = 500

const openQuestions = Messenger.use(({ list }) => list.gate({ state: "open", brief: true, most: mostListed }))
const runs = Messenger.use(({ list }) => list.orchestrator({ most: mostListed }))
const run = Effect.flatMap(runIdInPath, (id) => Messenger.use(({ show }) => show.orchestrator(id)))

const sessionsOfRun = Effect.flatMap(runIdInPath, (runId) =>
  Messenger.use(({ list }) => list.sessionManager({ runId, most: mostListed }))
)

const ofQuestion = <A, E>(
  read: (sources: ConsoleSources["Service"], question: EscalationView) => Effect.Effect<A, E>
) => Effect.flatMap(questionInPath, (question) => ConsoleSources.use((sources) => read(sources, question)))

const conversation = Effect.flatMap(sessionInPath, (session) =>
  ConsoleSources.use((sources) => sources.conversation(session))
)

const preview = Effect.gen(function* () {
  const { guidance } = yield* bodyOf(ConsolePreviewRequest)
  return yield* ofQuestion((sources, question) => Effect.succeed({ text: sources.preview(question, guidance) }))
})

const plans = Effect.flatMap(repositorySources, (sources) => sources.plans)
const settings = Effect.flatMap(repositorySources, (sources) => sources.settings)

const dryRun = Effect.gen(function* () {
  const wanted = yield* bodyOf(ConsoleRunRequest)
  return yield* (yield* repositorySources).dryRun(wanted)
})

/** Each grows with what is stored: a single question, too, by what its reviewers have found. */
const get = <A, E, R>(
  path: `/api/${string}`,
  read: Effect.Effect<A, E, R>,
  show: (value: A) => ReturnType<typeof data>
) => ({ method: "GET", path, access: "reader", readsMuch: true, reply: Effect.map(read, show) }) satisfies Route<R>

export const viewRoutes = [
  get("/api/questions", openQuestions, replyQuestions),
  get("/api/questions/:id", questionInPath, replyQuestion),
  get(
    "/api/questions/:id/changes",
    ofQuestion((sources, question) => sources.changes(question)),
    replyChanges
  ),
  get(
    "/api/questions/:id/logs",
    ofQuestion((sources, question) => sources.gateLogs(question)),
    replyTexts
  ),
  {
    method: "POST",
    path: "/api/questions/:id/preview",
    access: "answerer",
    reply: Effect.map(preview, replyPreview)
  },
  get("/api/plans", plans, replyPlans),
  {
    method: "POST",
    path: "/api/plans/dry-run",
    access: "answerer",
    readsMuch: true,
    reply: Effect.map(dryRun, replyDryRun)
  },
  get("/api/settings", settings, replySettings),
  get("/api/runs", runs, replyRuns),
  get("/api/runs/:id", run, replyRun),
  get("/api/runs/:id/sessions", sessionsOfRun, replySessions),
  get("/api/sessions/:id", sessionInPath, replySession),
  get("/api/sessions/:id/conversation", conversation, replyConversation)
] satisfies ReadonlyArray<Route<unknown>>
