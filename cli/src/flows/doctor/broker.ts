/** The broker of this repository, its streams and dead letters; a store that is not there yet is fine. */
import { ActorConfig, Broker, DeadLetter } from "@reprise/actor"
import { type BrokerHealth, health, Nats, readEndpoint, statisticsOverSystem, systemCredentialsOf } from "@reprise/nats"
import { subjects } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import { get } from "../../config/Config.ts"
import { isInitialised } from "../../project/Project.ts"
import { messaging, type SystemOptions, usesRemote } from "../../system/System.ts"
import { CliFailure } from "../../terminal/CliFailure.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { serverSettings } from "../../trust/trustedSettings.ts"
import { broken, type Finding, ok, warning } from "./Finding.ts"

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`

const ofHealth = (found: BrokerHealth): ReadonlyArray<Finding> => {
  const wrong = found.streams.filter(({ state }) => state !== "ok")
  const used = found.streams.reduce((sum, { bytes }) => sum + bytes, 0)
  return [
    found.notGuaranteed.length === 0
      ? ok(
          "broker",
          `nats-server ${found.serverVersion}, round trip ${found.roundTripMs} ms, writes to disk before it acknowledges`
        )
      : warning(
          "broker",
          `nats-server ${found.serverVersion}: ${found.notGuaranteed.join(" ")}`,
          "See docs/operations.md on servers of your own."
        ),
    wrong.length === 0
      ? ok("streams", `${found.streams.length} as they should be, ${megabytes(used)} used`)
      : broken(
          "streams",
          wrong
            .map(
              ({ differences, name, state }) =>
                `${name} is ${state} ${differences.map(({ field }) => field).join(", ")}`
            )
            .join("; "),
          "The next run creates or updates them; a setting that cannot be changed is named then."
        )
  ]
}

const decodeLetter = Schema.decodeUnknownOption(Schema.fromJsonString(DeadLetter))

const deadLetters = Effect.fnUntraced(function* (count: number) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const names = subjects(prefix)
  const last = yield* broker.last("dead", `${prefix}.dead.>`)
  if (last === undefined) return ok("dead letters", "none")
  const letter = Option.getOrUndefined(
    decodeLetter(yield* Effect.catchTag(last.body, "BodyLost", () => Effect.succeed("")))
  )
  return warning(
    "dead letters",
    `${count} in ${names.streams.dead}, the newest: ${letter === undefined ? last.subject : `${letter.subject} of ${letter.service}: ${letter.reason.slice(0, 300)}`}`,
    "A message could not be handled; the reason says why. Nothing else waits for it."
  )
})

/** The statistics that only the embedded server's own account may read. */
const statistics = Effect.fnUntraced(function* (options: SystemOptions) {
  const endpoint = Option.getOrUndefined(yield* readEndpoint(options.project.directory))
  if (endpoint === undefined) return undefined
  const system = yield* Nats.make({
    url: endpoint.url,
    name: "reprise-doctor",
    credentials: systemCredentialsOf(endpoint)
  })
  return yield* statisticsOverSystem(system.nc)
})

const look = (options: SystemOptions) =>
  Effect.gen(function* () {
    const seen = usesRemote(options)
      ? undefined
      : yield* statistics(options).pipe(Effect.orElseSucceed(() => undefined))
    const found = yield* health({
      prefix: get(options.config, "nats.prefix"),
      ...(seen === undefined ? {} : { statistics: Effect.succeed(seen) })
    })
    const dead = found.streams.find(({ name }) => name === subjects(get(options.config, "nats.prefix")).streams.dead)
    return [...ofHealth(found), yield* deadLetters(dead?.messages ?? 0)]
  }).pipe(Effect.scoped, Effect.provide(messaging(options)))

const trusted = ({ config, nats, project }: SystemOptions) =>
  requireTrusted(project, config, nats === undefined ? serverSettings : ["nats.credentials"])

export const lookAtBroker = (options: SystemOptions): Effect.Effect<ReadonlyArray<Finding>> =>
  !usesRemote(options) && !isInitialised(options.project)
    ? Effect.succeed([ok("broker", "not started in this repository yet; 'reprise run' does it")])
    : Effect.andThen(trusted(options), look(options)).pipe(
        Effect.catch((error) =>
          Effect.succeed([
            broken(
              "broker",
              error instanceof Error ? error.message : String(error),
              error instanceof CliFailure ? error.hint : "Nothing stored is lost; mend this and try again."
            )
          ])
        )
      )
