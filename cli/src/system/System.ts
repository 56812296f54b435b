/**
 * Composes the services for the commands that do the work: `run`, `sessions start`, `demo` and `up`. The agents' server takes
 * longest to start, so it is launched first, and everything else is loaded and started beside it.
 */
import type { ActorConfig, Broker, Messenger } from "@reprise/actor"
import { tryLock } from "@reprise/nats"
import { useProgramStarter } from "@reprise/process"
import { Deferred, Effect, Layer } from "effect"
import { runtimes } from "./agents/runtimes.ts"
import { requireSandbox, sandboxOf } from "./agents/sandbox.ts"
import type { BrokerRole } from "./broker/broker.ts"
import type { ServiceBrokers } from "./broker/ServiceBrokers.ts"
import { logging } from "./logging.ts"
import { type SystemOptions, usesRemote, VisitedRepository } from "./SystemOptions.ts"

/** What the workers need of this host. It needs no broker, so both start side by side. */
const hostParts = (options: SystemOptions) =>
  runtimes(options).pipe(
    Layer.merge(Layer.effectDiscard(useProgramStarter)),
    Layer.provideMerge(sandboxOf(options)),
    Layer.provide(Layer.effectDiscard(requireSandbox(options)))
  )

const messages = Effect.promise(() => import("./broker/messaging.ts"))
const loaded = Effect.promise(() => import("./hostedSystem.ts"))

type Hosted = Effect.Success<typeof loaded>

const later = <A, E, R>(layer: (module: Hosted) => Layer.Layer<A, E, R>) => Layer.unwrap(Effect.map(loaded, layer))

/** What a command uses of the system. */
type Parts = Messenger | Broker | ActorConfig | BrokerRole | ServiceBrokers

const onlyParts = <E, R>(layer: Layer.Layer<Parts, E, R>): Layer.Layer<Parts, E, R> => layer

/** What this host needs and the broker, side by side; the broker's part is loaded when the agents' server is launched. */
const besideAgents = <A, E, R>(options: SystemOptions, broker: (module: Hosted) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(
    Effect.map(Deferred.make<void>(), (launched) =>
      Layer.merge(
        Layer.tap(hostParts(options), () => Deferred.succeed(launched, undefined)),
        Layer.unwrap(Effect.as(Deferred.await(launched), later(broker)))
      )
    )
  )

/** Turns every failure of a layer into one that people read. */
const withReadableFailures = <A, E, R>(layer: Layer.Layer<A, E, R>) =>
  layer.pipe(
    Layer.catch((error) =>
      Layer.effectContext(Effect.flatMap(messages, ({ failureOf }) => Effect.fail(failureOf(error))))
    )
  )

/**
 * Does the work of this repository in this process. While another process does the work, this one is its client;
 * `BrokerRole.lost` fails when the other has ended, and this one can take over.
 */
export const hostingSystem = (options: SystemOptions) =>
  withReadableFailures(
    Layer.unwrap(
      Effect.gen(function* () {
        if (usesRemote(options)) {
          return onlyParts(Layer.unwrap(Effect.map(messages, ({ messaging }) => messaging(options))))
        }
        if (!(yield* tryLock(options.project.directory, "host"))) {
          return onlyParts(later(({ connected }) => connected(options, false)))
        }
        return onlyParts(
          later(({ hosted }) => hosted(options)).pipe(
            Layer.provideMerge(besideAgents(options, ({ connected }) => connected(options, true)))
          )
        )
      })
    ).pipe(
      Layer.provideMerge(logging(options)),
      Layer.provideMerge(Layer.succeed(VisitedRepository, Effect.succeed(options)))
    )
  )

/** Does the work of this repository or, on a server that others run, all work that is sent there. */
export const servingSystem = (options: SystemOptions) =>
  usesRemote(options)
    ? withReadableFailures(
        later(({ hostedForOthers }) => hostedForOthers(options)).pipe(
          Layer.provideMerge(besideAgents(options, ({ brokerOfOthers }) => brokerOfOthers(options))),
          Layer.provideMerge(logging(options))
        )
      )
    : hostingSystem(options)
