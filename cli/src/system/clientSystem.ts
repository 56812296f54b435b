/** For commands that look and answer: the project's system, and its lists. */
import { type ActorConfig, type Broker, Messenger, QueryFailed } from "@reprise/actor"
import type { ServiceName } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { loadConfig } from "../config/loadConfig.ts"
import { findProject } from "../project/Project.ts"
import { type CliFailure, missing } from "../terminal/CliFailure.ts"
import { requireTrusted } from "../trust/requireTrust.ts"
import { serverSettings } from "../trust/trustedSettings.ts"
import { BrokerLost, takeovers, whileServed } from "./broker.ts"
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
  return yield* whileServed(effect).pipe(Effect.provide(system))
})

const isLost = (error: unknown): boolean => error instanceof BrokerLost

/**
 * Runs an effect over the system of the repository around the current directory. It may run more than once: a process
 * that looked something up, and ran the broker meanwhile, takes the broker with it when it ends.
 */
export const withReading = <A, E>(flags: { readonly nats: Option.Option<string> }, effect: Reading<A, E>) =>
  overSystem(flags, false, effect).pipe(
    Effect.retry({ while: isLost, times: takeovers }),
    Effect.mapError((error) =>
      error instanceof QueryFailed ? missing(error.code, error.message, error.hint, error) : error
    )
  )

/** The same for an effect that waits: it begins anew when the process that ran the broker has ended. */
export const withLasting = <A, E>(flags: { readonly nats: Option.Option<string> }, effect: Reading<A, E>) =>
  overSystem(flags, true, effect).pipe(Effect.retry({ while: isLost }))

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
