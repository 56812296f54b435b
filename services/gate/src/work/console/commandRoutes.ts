/** What a human does in the console: the same commands that the command line sends. */
import { type AskOptions, Messenger } from "@reprise/actor"
import {
  ConsoleAnswer,
  ConsoleControl,
  ConsoleFork,
  ConsoleForked,
  ConsoleStart,
  ConsoleStarted,
  defined,
  type RunId,
  to
} from "@reprise/protocol"
import { Clock, Effect, Schema } from "effect"
import { ConsoleSources, repositorySources } from "./ConsoleSources.ts"
import type { Route } from "./Route.ts"
import { bodyOf, data, outcomeOf } from "./replies.ts"
import { Visiting } from "./Visiting.ts"
import { questionInPath, runIdInPath } from "./viewRoutes.ts"

/** A browser sends a command again when it got no reply; the answer may have been there since the first time. */
const answersSinceMs = 2 * 60_000

export const askOptions = (commandId: string, runId: RunId, through = "web"): Effect.Effect<AskOptions> =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    id: `${through}-${commandId}`,
    subject: runId,
    since: new Date(now - answersSinceMs).toISOString(),
    timeout: "10 seconds"
  }))

const via = "web"

/** The name that a proxy gave, else that of whoever runs the console and has its token. */
const whoAsks = Effect.flatMap(Visiting, (visitor) =>
  visitor?.user === undefined ? ConsoleSources.use(({ user }) => Effect.succeed(user)) : Effect.succeed(visitor.user)
)

/** The question's run is where the answer is looked for; the gate decides whether the answer is valid. */
const answer = Effect.gen(function* () {
  const { choice, commandId, commit, guidance, model, runtime, variant } = yield* bodyOf(ConsoleAnswer)
  const question = yield* questionInPath
  const { escalationId, runId } = question
  const { requireAgent } = yield* ConsoleSources
  const agent = defined({ runtime, model, variant })
  yield* requireAgent(question, agent)
  const { ask } = yield* Messenger
  const command = to.gate(escalationId).AnswerEscalation({
    choice,
    ...defined({ guidance, commit }),
    ...agent,
    by: yield* whoAsks,
    via
  })
  return yield* outcomeOf(ask(command, yield* askOptions(commandId, runId)))
})

const encodeStarted = Schema.encodeSync(ConsoleStarted)

const start = Effect.gen(function* () {
  const wanted = yield* bodyOf(ConsoleStart)
  return data(encodeStarted(yield* (yield* repositorySources).start(wanted)))
})

const encodeForked = Schema.encodeSync(ConsoleForked)

/** No answer: the question stays open. */
const fork = Effect.gen(function* () {
  const wanted = yield* bodyOf(ConsoleFork)
  const sources = yield* repositorySources
  return data(encodeForked(yield* sources.fork(yield* questionInPath, wanted)))
})

const pause = Effect.gen(function* () {
  const { commandId, now } = yield* bodyOf(ConsoleControl)
  const runId = yield* runIdInPath
  const { ask } = yield* Messenger
  return yield* outcomeOf(ask(to.orchestrator(runId).PauseRun({ now }), yield* askOptions(commandId, runId)))
})

const resume = Effect.gen(function* () {
  const { commandId } = yield* bodyOf(ConsoleControl)
  const runId = yield* runIdInPath
  const { ask } = yield* Messenger
  return yield* outcomeOf(ask(to.orchestrator(runId).ResumeRun(), yield* askOptions(commandId, runId)))
})

const abort = Effect.gen(function* () {
  const { commandId, reason } = yield* bodyOf(ConsoleControl)
  const runId = yield* runIdInPath
  const { ask } = yield* Messenger
  const command = to.orchestrator(runId).AbortRun({ reason: reason ?? `aborted by ${yield* whoAsks} through ${via}` })
  return yield* outcomeOf(ask(command, yield* askOptions(commandId, runId)))
})

export const commandRoutes = [
  { method: "POST", path: "/api/questions/:id/answer", access: "answerer", reply: answer },
  { method: "POST", path: "/api/questions/:id/fork", access: "answerer", reply: fork },
  { method: "POST", path: "/api/runs", access: "answerer", reply: start },
  { method: "POST", path: "/api/runs/:id/pause", access: "answerer", reply: pause },
  { method: "POST", path: "/api/runs/:id/resume", access: "answerer", reply: resume },
  { method: "POST", path: "/api/runs/:id/abort", access: "answerer", reply: abort }
] satisfies ReadonlyArray<Route<unknown>>
