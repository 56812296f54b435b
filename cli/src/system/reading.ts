/** For commands that look and answer: the project's system, and its lists. */
import { type ActorConfig, type Broker, Messenger } from "@reprise/actor"
import type { ServiceName } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { type CliFailure, missing } from "../CliFailure.ts"
import { loadConfig } from "../config/loadConfig.ts"
import { findProject } from "../project/Project.ts"
import { serverSettings } from "../project/powers.ts"
import { requireTrusted } from "../project/requireTrust.ts"
import { BrokerLost, Tenure } from "./broker.ts"
import { readingSystem } from "./System.ts"

type Reading<A, E> = Effect.Effect<A, E, Messenger | Broker | ActorConfig>

const overSystem = Effect.fnUntraced(function* <A, E>(
  flags: { readonly nats: Option.Option<string> },
  lasting: boolean,
  effect: Reading<A, E>
) {
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root, new Map())
  const nats = Option.getOrUndefined(flags.nats)
  yield* requireTrusted(project, config, nats === undefined ? serverSettings : ["nats.credentials"])
  const system = readingSystem({ project, config, lasting, ...(nats === undefined ? {} : { nats }) })
  return yield* Effect.flatMap(Tenure, ({ lost }) => Effect.raceFirst(effect, lost)).pipe(Effect.provide(system))
})

/** Runs an effect over the system of the repository around the current directory. */
export const withReading = <A, E>(flags: { readonly nats: Option.Option<string> }, effect: Reading<A, E>) =>
  overSystem(flags, false, effect)

/** The same for an effect that waits: it begins anew when the process that ran the broker has ended. */
export const withLasting = <A, E>(flags: { readonly nats: Option.Option<string> }, effect: Reading<A, E>) =>
  overSystem(flags, true, effect).pipe(Effect.retry({ while: (error) => error instanceof BrokerLost }))

/** Every view of a service. */
export const listOf = Effect.fnUntraced(function* <A>(service: ServiceName, view: Schema.Codec<A, unknown>) {
  const messenger = yield* Messenger
  const rows = yield* messenger
    .query(service, "list", {})
    .pipe(Effect.mapError((failed) => missing(failed.code, failed.message, failed.hint, failed)))
  return yield* Schema.decodeUnknownEffect(Schema.Array(view))(rows).pipe(
    Effect.mapError(
      (cause): CliFailure =>
        missing(
          "bad-reply",
          `The ${service} answered something else than its protocol says.`,
          "Are all processes of the same version?",
          cause
        )
    )
  )
})
