/** Shows whoever asks what lies on this host of a run: its changes, and the logs of its quality gates. */
import { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { ConsoleChanges, ConsoleText, LookAtWork, type RunId, subjects as subjectsOf } from "@reprise/protocol"
import { Effect, Layer, Result, Schema } from "effect"
import { changesIn, gateLogs } from "./look.ts"

const read = Schema.decodeUnknownResult(Schema.fromJsonString(LookAtWork))
const encodeChanges = Schema.encodeSync(ConsoleChanges)
const encodeLogs = Schema.encodeSync(Schema.Array(ConsoleText))

const data = (value: unknown) => JSON.stringify({ ok: true, data: value })
const failure = (code: string, message: string, hint: string) =>
  JSON.stringify({ ok: false, error: { code, message, hint } })

class NothingToShow extends Schema.TaggedError<NothingToShow>()("NothingToShow", { message: Schema.String }) {}

/** Where the run is here. Nobody who asks can name a folder. */
const placeOf = Effect.fnUntraced(function* (runId: RunId) {
  const { host } = yield* ActorConfig
  const view = yield* Messenger.use(({ show }) => show.workspace(runId))
  const { directory, root = directory } = view
  if (view.host !== host || directory === undefined || root === undefined) {
    return yield* new NothingToShow({ message: `Run ${runId} is not on this host.` })
  }
  return { directory, root }
})

const changes = Effect.fnUntraced(function* ({ base, runId }: typeof LookAtWork.cases.Changes.Type) {
  const { directory } = yield* placeOf(runId)
  const shown = yield* changesIn(directory, base).pipe(
    Effect.mapError(
      (why) =>
        new NothingToShow({
          message: `git cannot show the changes of run ${runId} since ${base ?? "HEAD"}: ${why.trim().slice(0, 400)}`
        })
    )
  )
  return encodeChanges(shown)
})

const logs = Effect.fnUntraced(function* ({ logs, runId }: typeof LookAtWork.cases.GateLogs.Type) {
  const { root } = yield* placeOf(runId)
  return encodeLogs(yield* gateLogs(root, runId, logs))
})

/** Until the layer's scope closes. */
export const lookServer = Layer.effectDiscard(
  Effect.gen(function* () {
    const broker = yield* Broker
    const { host, prefix } = yield* ActorConfig
    const context = yield* Effect.context<Messenger | ActorConfig>()
    const answer = (request: string) => {
      const wanted = read(request)
      if (Result.isFailure(wanted)) {
        return Effect.succeed(
          failure("bad-request", "The query cannot be read.", "Are all services of the same version?")
        )
      }
      const shown = wanted.success._tag === "Changes" ? changes(wanted.success) : logs(wanted.success)
      return Effect.map(shown, data).pipe(
        Effect.catch(({ message }) =>
          Effect.succeed(failure("nothing-to-show", message, "Its folder there may have been removed."))
        ),
        Effect.provide(context)
      )
    }
    // The worker's name: administrators see one service of this host.
    yield* broker.serve("workspace-worker", { [subjectsOf(prefix).look(host)]: answer })
  })
)
