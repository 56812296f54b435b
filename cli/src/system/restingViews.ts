/**
 * What can be listed where nobody runs the broker: the views that were stored when the last process that ran it ended in
 * order, and no message waited. Nothing changes them until the next one starts, which removes them first.
 */
import { rm } from "node:fs/promises"
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
import { hasOwner, Nats, type NatsShape } from "@reprise/nats"
import { workOfRun } from "@reprise/orchestrator/workOfRun"
import { readPrivateFile, replaceFile } from "@reprise/process"
import { type ServiceName, subjects } from "@reprise/protocol"
import { workOfSession } from "@reprise/session-manager/workOfSession"
import { Effect, Layer, Option, Schema, type Scope } from "effect"
import manifest from "../../package.json" with { type: "json" }
import type { Project } from "../project/Project.ts"
import { type SystemOptions, usesRemote } from "./SystemOptions.ts"

/** Larger lists are quicker to get from a broker than to keep twice. */
const mostBytes = 4_000_000

const fileOf = ({ directory }: Project) => join(directory, "views.json")

const Resting = Schema.fromJsonString(
  Schema.Struct({
    /** Of Reprise: another one may have other views. */
    version: Schema.Literal(manifest.version),
    prefix: Schema.String,
    /** By the service that owns them. */
    views: Schema.Record(
      Schema.Literals(["orchestrator", "session-manager", "gate"]),
      Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String }))
    )
  })
)
export type RestingViews = (typeof Resting.Type)["views"]
const decode = Schema.decodeUnknownOption(Resting)
const encode = Schema.encodeSync(Resting)

const listed: ReadonlyArray<readonly [keyof RestingViews, WorkOnHost | undefined]> = [
  ["orchestrator", workOfRun],
  ["session-manager", workOfSession],
  ["gate", undefined]
]

/** For the next owner of the broker, before anything changes. */
export const forgetViews = (project: Project) => Effect.promise(() => rm(fileOf(project), { force: true }))

/** Undefined where a message waits that would change them: it is handled while somebody runs the broker. */
const readAll = Effect.gen(function* () {
  const { decided, views } = yield* Broker
  if (!(yield* decided)) return undefined
  const read = (service: ServiceName) => views.list(service)
  const [runs, sessions, questions] = yield* Effect.all([read("orchestrator"), read("session-manager"), read("gate")], {
    concurrency: "unbounded"
  })
  return { orchestrator: runs, "session-manager": sessions, gate: questions } satisfies RestingViews
})

/** Keeps the views, as the operator, when the actors of this process have ended. What cannot be kept is not missed. */
export const keepViews = Effect.fnUntraced(
  function* <E>({ project, settings }: SystemOptions, operator: Effect.Effect<NatsShape, E, Scope.Scope>) {
    const { prefix } = settings.nats
    const broker = JetStreamBroker.layer.pipe(
      Layer.provide(Layer.effect(Nats, operator)),
      Layer.provide(ActorConfig.layer({ prefix }))
    )
    const views = yield* Effect.provide(readAll, Layer.fresh(broker))
    if (views === undefined) return
    const text = encode({ version: manifest.version, prefix, views })
    if (text.length > mostBytes) return
    yield* Effect.tryPromise(() => replaceFile(fileOf(project), `${text}\n`))
  },
  Effect.timeout("2 seconds"),
  (kept) => Effect.ignore(kept)
)

/** Undefined where a process runs the broker, or none has ended in order. */
export const restingViews = Effect.fnUntraced(function* (options: SystemOptions) {
  const { project, settings } = options
  if (usesRemote(options) || (yield* hasOwner(project.directory))) return undefined
  const text = yield* Effect.promise(() => readPrivateFile(fileOf(project), 2 * mostBytes).catch(() => undefined))
  const found = Option.getOrUndefined(decode(text))
  return found?.prefix === settings.nats.prefix ? found.views : undefined
})

/** Answers what is listed, and nothing else. */
export const restingMessenger = (views: RestingViews) =>
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
