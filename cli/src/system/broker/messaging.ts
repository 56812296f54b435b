/** Messages over a broker, whoever runs it. */
import { ActorConfig, HostTaken, JetStreamBroker, Messenger } from "@reprise/actor"
import { Host } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { CliFailure, missing } from "../../terminal/CliFailure.ts"
import { type SystemOptions, serverUrl } from "../SystemOptions.ts"
import { type BrokerLost, isBrokerLost } from "./BrokerLost.ts"
import { noticingFull, remoteBroker } from "./broker.ts"
import { readable } from "./brokerTrouble.ts"
import { type LocalBroker, localBroker, runningBroker } from "./localBroker.ts"
import { ServiceBrokers } from "./ServiceBrokers.ts"

export const actorConfig = ({ host, settings }: SystemOptions) =>
  ActorConfig.layer({ prefix: settings.nats.prefix, host: Host.make(host ?? "local") })

const ownOrRunning = (options: SystemOptions, local: LocalBroker | "running") =>
  local === "running" ? runningBroker(options) : localBroker(options, local)

/** Messages over a broker. `running`: over one that somebody runs already, or none. */
export const messaging = (
  options: SystemOptions,
  local: LocalBroker | "running" = { waitForOwnerMs: 0, works: false }
) => {
  const url = serverUrl(options)
  const { prefix } = options.settings.nats
  return noticingFull(url === undefined ? { prefix, directory: options.project.directory } : { prefix }).pipe(
    Layer.provideMerge(Messenger.layer),
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provideMerge(ServiceBrokers.layer),
    Layer.provideMerge(url === undefined ? ownOrRunning(options, local) : remoteBroker(options, url)),
    Layer.provideMerge(actorConfig(options))
  )
}

/** What people read; a broker that is lost stays that, since another process may continue. */
export const failureOf = (thrown: unknown): CliFailure | BrokerLost => {
  const error = readable(thrown)
  if (error instanceof CliFailure || isBrokerLost(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof HostTaken
    ? missing("host-taken", message, "'reprise doctor' shows what answers on this broker.", error)
    : missing("broken", message, "'reprise doctor' checks what a run needs.", error)
}

/** Turns every failure of a layer into one that people read. */
export const withReadableFailures = <A, E, R>(
  layer: Layer.Layer<A, E, R>
): Layer.Layer<A, CliFailure | BrokerLost, R> =>
  layer.pipe(Layer.catch((error) => Layer.effectContext(Effect.fail(failureOf(error)))))
