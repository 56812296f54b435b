/**
 * What can be listed where nobody runs the broker: the views that were stored when the last process that ran it ended in
 * order, and nothing but work waited. Nothing changes them until the next one starts, which removes them first.
 */
import { rm, stat } from "node:fs/promises"
import { join } from "node:path"
import {
  ActorConfig,
  Broker,
  JetStreamBroker,
  MemoryBroker,
  Messenger,
  serveStoredViews,
  type WorkOnHost
} from "@reprise/actor"
import { hasOwner, Nats, type NatsShape, statePaths } from "@reprise/nats"
import { workOfRun } from "@reprise/orchestrator/workOfRun"
import { readPrivateFile, replaceFile } from "@reprise/process"
import { subjects } from "@reprise/protocol"
import { workOfSession } from "@reprise/session-manager/workOfSession"
import { Effect, Layer, Option, Schema, type Scope } from "effect"
import manifest from "../../../package.json" with { type: "json" }
import type { Project } from "../../project/Project.ts"
import { type SystemOptions, usesRemote } from "../SystemOptions.ts"

/** Of the file. Larger lists are quicker to get from a broker than to keep twice. */
const mostBytes = 4_000_000

const fileOf = ({ directory }: Project) => join(directory, "views.json")

const StoredFile = Schema.fromJsonString(
  Schema.Struct({
    /** Of Reprise: another one may have other views. */
    version: Schema.Literal(manifest.version),
    /** Of the server: `endOf`. */
    end: Schema.String,
    prefix: Schema.String,
    /** By the service that owns them. */
    views: Schema.Record(
      Schema.Literals(["orchestrator", "session-manager", "gate"]),
      Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String }))
    )
  })
)
export type StoredViews = (typeof StoredFile.Type)["views"]
const decode = Schema.decodeUnknownOption(StoredFile)
const encode = Schema.encodeSync(StoredFile)

const listed: ReadonlyArray<readonly [keyof StoredViews, WorkOnHost | undefined]> = [
  ["orchestrator", workOfRun],
  ["session-manager", workOfSession],
  ["gate", undefined]
]

/** Undefined where a message waits that would change them: it is handled while somebody runs the broker. */
const readAll = Effect.gen(function* () {
  const { decided, views } = yield* Broker
  if (!(yield* decided)) return undefined
  return yield* Effect.all(
    {
      orchestrator: views.list("orchestrator"),
      "session-manager": views.list("session-manager"),
      gate: views.list("gate")
    },
    { concurrency: "unbounded" }
  )
})

/**
 * What tells one end of the server from the next, whoever starts it: also a Reprise that knows nothing of the kept views
 * has it write to its log.
 */
const endOf = ({ directory }: Project) =>
  Effect.map(
    Effect.promise(() => stat(statePaths(directory).log).catch(() => undefined)),
    (log) => (log === undefined ? "" : `${log.size} ${log.mtimeMs}`)
  )

/** For the owner of the broker. `read`: once its actors have ended. What cannot be kept is not missed. */
export const makeViewKeeper = ({ project, settings }: SystemOptions) => {
  const { prefix } = settings.nats
  const file = fileOf(project)
  const draft = `${file}.new`
  let kept: StoredViews | undefined
  const forget = Effect.promise(() =>
    Promise.all([file, draft].map((path) => rm(path, { force: true }).catch(() => undefined)))
  )
  const write = Effect.gen(function* () {
    if (kept === undefined) return
    const text = encode({ version: manifest.version, end: yield* endOf(project), prefix, views: kept })
    if (Buffer.byteLength(text) < mostBytes) yield* Effect.tryPromise(() => replaceFile(file, `${text}\n`, { draft }))
  })
  return {
    /** Before the server starts; the views are written when it has ended. */
    begin: Effect.andThen(
      forget,
      Effect.addFinalizer(() => Effect.ignore(write))
    ),
    read: <E>(operator: Effect.Effect<NatsShape, E, Scope.Scope>) => {
      const broker = JetStreamBroker.layer.pipe(
        Layer.provide(Layer.effect(Nats, operator)),
        Layer.provide(ActorConfig.layer({ prefix }))
      )
      return Effect.provide(readAll, Layer.fresh(broker)).pipe(
        Effect.timeout("2 seconds"),
        Effect.flatMap((views) =>
          Effect.sync(() => {
            kept = views
          })
        ),
        Effect.ignore
      )
    }
  }
}

/** Undefined where a process runs the broker, or none has ended in order. */
export const readStoredViews = Effect.fnUntraced(function* (options: SystemOptions) {
  const { project, settings } = options
  if (usesRemote(options) || (yield* hasOwner(project.directory))) return undefined
  const text = yield* Effect.promise(() => readPrivateFile(fileOf(project), mostBytes).catch(() => undefined))
  const found = Option.getOrUndefined(decode(text))
  if (found?.prefix !== settings.nats.prefix || found.end !== (yield* endOf(project))) return undefined
  return found.views
})

/** Answers what is listed, and nothing else. */
export const storedViewsMessenger = (views: StoredViews) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const broker = yield* Broker
      const { prefix } = yield* ActorConfig
      for (const [service, workOnHost] of listed) {
        for (const { key, value } of views[service]) yield* broker.views.put(key, value)
        yield* serveStoredViews({ service, broker, subjects: subjects(prefix), workOnHost })
      }
    })
  ).pipe(Layer.provideMerge(Messenger.layer), Layer.provideMerge(MemoryBroker.layer))
