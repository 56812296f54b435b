/** `reprise watch [RUN]` and `reprise logs RUN` */
import { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { isKey, isStandalone, type PublicEvent, subjects } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { wrongUse } from "../CliFailure.ts"
import { color, data, json, say, visible } from "../Printer.ts"
import { findSession } from "../sessions/findSession.ts"
import { liveEvent } from "../show/liveEvent.ts"
import { logLine } from "../show/logLine.ts"
import { publicJson } from "../show/publicJson.ts"
import { withLasting, withReading } from "../system/reading.ts"

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

/** Follows until interrupted; one run: until it ends. */
export const watch = (flags: Flags & { readonly run: Option.Option<string> }) =>
  withLasting(
    flags,
    Effect.gen(function* () {
      const messenger = yield* Messenger
      const run = Option.getOrUndefined(flags.run)
      if (run !== undefined) yield* requireRun(run)
      if (!flags.json) say(color.dim(`watching ${run ?? "every run"}; Ctrl-C ends it`))
      yield* messenger
        .events({ ...(run === undefined ? {} : { runId: run }), from: run === undefined ? "now" : "beginning" })
        .pipe(
          Stream.tap((seen) => Effect.sync(() => liveEvent(seen, { json: flags.json, everyRun: run === undefined }))),
          Stream.takeUntil(({ event }) => run !== undefined && isEnd(event)),
          Stream.runDrain
        )
    })
  )

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
        Stream.takeUntil(({ sequence }) => sequence >= last),
        Stream.runForEach(({ event, meta }) =>
          Effect.sync(() => {
            if (flags.json) json(publicJson(event, meta))
            else data(`${meta.time} ${visible(logLine(event))}`)
          })
        )
      )
    })
  )
