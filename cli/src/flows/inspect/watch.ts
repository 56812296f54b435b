/** `reprise watch [RUN]` and `reprise logs RUN` */
import { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { isKey, isStandalone, type PublicEvent, subjects } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { withLasting, withReading } from "../../system/clientSystem.ts"
import { findSession } from "../../system/findSession.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { color, data, json, nobodyReads, say, visible } from "../../terminal/Printer.ts"
import { liveEvent } from "../../views/liveEvent.ts"
import { logLine } from "../../views/logLine.ts"
import { publicJson } from "../../views/publicJson.ts"

interface Flags {
  readonly json: boolean
  readonly nats: Option.Option<string>
}

const unknownRun = (run: string) =>
  wrongUse(
    "unknown-run",
    `There is no run '${run.slice(0, 80)}'.`,
    "'reprise status' lists the runs of this repository."
  )

const requireRun = Effect.fnUntraced(function* (run: string) {
  if (!isKey(run)) return yield* unknownRun(run)
  const messenger = yield* Messenger
  yield* messenger.query("orchestrator", "show", { id: run }).pipe(
    Effect.catchIf(
      (failed) => failed.code === "not-found",
      () => requireStandalone(run)
    )
  )
})

/** A standalone session's story is told under its own id, as a run's is. */
const requireStandalone = (id: string) =>
  findSession(id).pipe(
    Effect.catchTag("CliFailure", () => unknownRun(id)),
    Effect.flatMap(({ prompt }) => (prompt === undefined ? unknownRun(id) : Effect.void))
  )

const runEndings = new Set(["RunCompleted", "RunFailed", "RunAborted"])
const sessionEndings = new Set(["SessionCompleted", "SessionFailed", "SessionAborted", "SessionExpired"])

const isEnd = ({ _tag, runId, sessionId }: PublicEvent): boolean =>
  runEndings.has(_tag) || (sessionEndings.has(_tag) && sessionId !== undefined && isStandalone({ runId, sessionId }))

/**
 * Follows until interrupted, or nobody reads any more; one run: until it ends. Where another process takes the broker
 * over it goes on after what it told last.
 */
export const watch = Effect.fn("watch")(function* (flags: Flags & { readonly run: Option.Option<string> }) {
  const run = Option.getOrUndefined(flags.run)
  const begun = new Date().toISOString()
  let told = 0
  let again = false
  yield* withLasting(
    flags,
    Effect.gen(function* () {
      const messenger = yield* Messenger
      if (run !== undefined) yield* requireRun(run)
      if (!flags.json && !again) say(color.dim(`watching ${run ?? "every run"}; Ctrl-C ends it`))
      const from = run !== undefined ? "beginning" : again ? { since: begun } : "now"
      again = true
      yield* messenger.events({ ...(run === undefined ? {} : { runId: run }), from }).pipe(
        Stream.filter(({ sequence }) => sequence > told),
        Stream.tap((seen) =>
          Effect.sync(() => {
            told = seen.sequence
            liveEvent(seen, { json: flags.json, everyRun: run === undefined })
          })
        ),
        Stream.takeUntil(({ event }) => nobodyReads() || (run !== undefined && isEnd(event))),
        Stream.runDrain
      )
    })
  )
})

/** Everything that happened so far. */
export const logs = (flags: Flags & { readonly run: string }) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const messenger = yield* Messenger
      yield* requireRun(flags.run)
      const broker = yield* Broker
      const config = yield* ActorConfig
      const last = (yield* broker.last("events", subjects(config.prefix).events("*", flags.run)))?.sequence ?? 0
      if (last === 0) return
      yield* messenger.events({ runId: flags.run, from: "beginning" }).pipe(
        Stream.takeUntil(({ sequence }) => sequence >= last || nobodyReads()),
        Stream.runForEach(({ event, meta }) =>
          Effect.sync(() => {
            if (flags.json) json(publicJson(event, meta))
            else data(`${meta.time} ${visible(logLine(event))}`)
          })
        )
      )
    })
  )
