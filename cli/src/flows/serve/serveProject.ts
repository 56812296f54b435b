/** Does all the work of a repository, for all of its runs, and shows what happens, until it is interrupted. */
import { Messenger } from "@reprise/actor"
import { RunView } from "@reprise/protocol"
import { Effect, Stream } from "effect"
import { get } from "../../config/Config.ts"
import { BrokerLost, duringTenure, Tenure } from "../../system/broker.ts"
import { listOf } from "../../system/clientSystem.ts"
import { releaseWhenQuiet } from "../../system/releaseMemory.ts"
import { type SystemOptions, servingSystem } from "../../system/System.ts"
import { color, say } from "../../terminal/Printer.ts"
import { liveEvent } from "../../views/liveEvent.ts"
import { serving } from "../../views/servingText.ts"

export interface Serving extends SystemOptions {
  readonly json: boolean
}

const serve = Effect.fnUntraced(function* (options: Serving) {
  const { json, project } = options
  const { works } = yield* Tenure
  const messenger = yield* Messenger
  const since = new Date(Date.now() - 1).toISOString()
  const runs = yield* listOf("orchestrator", RunView)
  const broker = get<string | undefined>(options.config, "nats.url")
  const lines = serving({ directory: project.root, works, runs, ...(broker === undefined ? {} : { broker }) })
  if (!json) for (const line of lines) say(line)
  let seen = 0
  const show = messenger.events({ from: { since } }).pipe(
    Stream.runForEach((event) =>
      Effect.sync(() => {
        seen++
        liveEvent(event, { json, everyRun: true })
      })
    )
  )
  yield* Effect.raceFirst(show, works ? releaseWhenQuiet(() => seen) : Effect.never)
})

/**
 * Never succeeds. While another process does the work, it only follows, and takes over when that one ends. Fails with a
 * `CliFailure` when something is missing or the broker is full.
 */
export const serveProject = Effect.fn("serveProject")(function* (options: Serving) {
  yield* duringTenure(serve(options)).pipe(
    Effect.provide(servingSystem({ ...options, lasting: true, lazyAgents: true })),
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (error instanceof BrokerLost && !options.json)
          say(color.dim("the process that did the work has ended; going on here"))
      })
    ),
    Effect.retry({ while: (error) => error instanceof BrokerLost })
  )
  return yield* Effect.never
})
