/** `reprise watch [RUN]` and `reprise logs [RUN]` */
import { ActorConfig, Broker, Messenger, type SeenEvent } from "@reprise/actor"
import { defined, isStandalone, type PublicEvent, type PublicEventType, subjects } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { type ClientFlags, withClient, withLastingClient } from "../../system/clientSystem.ts"
import { findRun, findSession, unknownRun } from "../../system/lookUp/lookUp.ts"
import { runToRead } from "../../system/lookUp/meantRun.ts"
import { color, data, json, readerHasGone, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { logLine } from "../../views/eventLine.ts"
import { Display, type ProgressFlags, withDisplay } from "../../views/live/Display.ts"
import { publicJson, timedLine } from "../../views/publicJson.ts"
import { showLive } from "../gate/followEvents.ts"
import { offerGate } from "../gate/offerGate.ts"

/** The events of a standalone session are published under its own id, as those of a run are. */
const requireStandalone = (id: string) =>
  findSession(id).pipe(
    Effect.catchTag("CliFailure", () => unknownRun(id)),
    Effect.flatMap(({ prompt }) => (prompt === undefined ? unknownRun(id) : Effect.void))
  )

const requireRun = (id: string) =>
  findRun(id).pipe(
    Effect.asVoid,
    Effect.catchIf(
      ({ code }) => code === "unknown-run",
      () => requireStandalone(id)
    )
  )

const runEndings: ReadonlySet<PublicEventType> = new Set(["RunCompleted", "RunFailed", "RunAborted"])
const sessionEndings: ReadonlySet<PublicEventType> = new Set([
  "SessionCompleted",
  "SessionFailed",
  "SessionAborted",
  "SessionExpired"
])

const isEnd = ({ _tag, runId, sessionId }: PublicEvent): boolean =>
  runEndings.has(_tag) || (sessionEndings.has(_tag) && sessionId !== undefined && isStandalone({ runId, sessionId }))

const print = (seen: SeenEvent, asJson: boolean, everyRun: boolean) =>
  asJson
    ? Effect.sync(() => json(publicJson(seen.event, seen.meta)))
    : Effect.flatMap(Display, (display) => display.event(seen, timedLine(seen, everyRun)))

/** What was printed so far: when another process takes the broker over, watching continues after it. */
interface Progress {
  readonly startedAt: string
  sequence: number
  attempts: number
}

const beginning = (): Progress => ({ startedAt: new Date().toISOString(), sequence: 0, attempts: 0 })

const watchEvents = Effect.fnUntraced(function* (name: string | undefined, asJson: boolean, progress: Progress) {
  const messenger = yield* Messenger
  const run = name === undefined ? undefined : yield* runToRead(Option.some(name))
  if (run !== undefined) yield* requireRun(run)
  progress.attempts += 1
  const isFirst = progress.attempts === 1
  if (isFirst && !asJson) say(color.dim(`Watching ${run ?? "every run"}; Ctrl-C stops.`))
  yield* showLive(run)
  yield* offerGate(run)
  const from = run !== undefined ? "beginning" : isFirst ? "now" : { since: progress.startedAt }
  yield* messenger.events({ ...defined({ runId: run }), from }).pipe(
    Stream.filter(({ sequence }) => sequence > progress.sequence),
    Stream.tap((seen) =>
      Effect.suspend(() => {
        progress.sequence = seen.sequence
        return print(seen, asJson, run === undefined)
      })
    ),
    Stream.takeUntil(({ event }) => readerHasGone() || (run !== undefined && isEnd(event))),
    Stream.runDrain
  )
}, Effect.scoped)

/** Until interrupted, until the reader has gone or, for one run, until it ends. */
export const watch = (flags: ClientFlags & ProgressFlags & { readonly run: Option.Option<string> }) => {
  const progress = beginning()
  const run = Option.getOrUndefined(flags.run)
  return withDisplay(
    { ...flags, asData: true, everyRun: run === undefined, idle: "Watching" },
    withLastingClient(flags, watchEvents(run, flags.json, progress))
  )
}

interface LogFlags extends ClientFlags {
  readonly run: Option.Option<string>
  readonly follow: boolean
}

/** The events of a run after `progress`: until the last that is stored, or while following until the run ends. */
const logEvents = Effect.fnUntraced(function* (flags: LogFlags, progress: Progress) {
  const messenger = yield* Messenger
  const runId = yield* runToRead(flags.run)
  yield* requireRun(runId)
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const last = (yield* broker.last("events", subjects(prefix).events("*", runId)))?.sequence ?? 0
  if (last === 0 && !flags.follow) return
  yield* messenger.events({ runId, from: "beginning" }).pipe(
    Stream.filter(({ sequence }) => sequence > progress.sequence),
    Stream.tap(({ event, meta, sequence }) =>
      Effect.sync(() => {
        progress.sequence = sequence
        if (flags.json) json(publicJson(event, meta))
        else data(`${meta.time} ${visible(logLine(event))}`)
      })
    ),
    Stream.takeUntil(({ event, sequence }) => readerHasGone() || (flags.follow ? isEnd(event) : sequence >= last)),
    Stream.runDrain
  )
})

/** Everything that happened so far; with `follow` also what happens next, until the run ends. */
export const logs = (flags: LogFlags) => {
  const events = logEvents(flags, beginning())
  return flags.follow ? withLastingClient(flags, events) : withClient(flags, events)
}
