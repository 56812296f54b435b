/** Checks the broker of this repository, its streams and dead letters; a broker that never ran is fine. */
import { ActorConfig, Broker, DeadLetter } from "@reprise/actor"
import { type BrokerHealth, health, Nats, readEndpoint, statisticsOverSystem, systemConnectionTo } from "@reprise/nats"
import { subjects } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import type { Config } from "../../config/resolveConfig.ts"
import { isInitialised } from "../../project/Project.ts"
import { messaging } from "../../system/broker/messaging.ts"
import { type SystemOptions, usesRemote } from "../../system/SystemOptions.ts"
import { CliFailure } from "../../terminal/CliFailure.ts"
import { requireTrusted } from "../../trust/requireTrust.ts"
import { credentialSettings, serverSettings } from "../../trust/trustedSettings.ts"
import { broken, type Finding, ok, warning } from "./findings.ts"

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`

const serverFinding = ({ notGuaranteed, roundTripMs, serverVersion }: BrokerHealth): Finding =>
  notGuaranteed.length === 0
    ? ok("broker", `nats-server ${serverVersion}, round trip ${roundTripMs} ms, writes to disk before it acknowledges`)
    : warning(
        "broker",
        `nats-server ${serverVersion}: ${notGuaranteed.join(" ")}`,
        "docs/operations.md describes how to set up your own server."
      )

const streamsFinding = ({ streams }: BrokerHealth): Finding => {
  const wrong = streams.filter(({ state }) => state !== "ok")
  const used = streams.reduce((sum, { bytes }) => sum + bytes, 0)
  if (wrong.length === 0) return ok("streams", `${streams.length} streams ok, ${megabytes(used)} used`)
  const details = wrong.map(
    ({ differences, name, state }) =>
      `${name} is ${state}${differences.length === 0 ? "" : `: ${differences.map(({ field }) => field).join(", ")}`}`
  )
  return broken(
    "streams",
    details.join("; "),
    "The next run creates or updates them; it fails if a setting cannot be changed, and names the setting."
  )
}

const decodeDeadLetter = Schema.decodeUnknownOption(Schema.fromJsonString(DeadLetter))

const deadLettersFinding = Effect.fnUntraced(function* (count: number) {
  const broker = yield* Broker
  const { prefix } = yield* ActorConfig
  const last = yield* broker.last("dead", `${prefix}.dead.>`)
  if (last === undefined) return ok("dead letters", "none")
  const body = yield* Effect.catchTag(last.body, "BodyLost", () => Effect.succeed(""))
  const newest = Option.match(decodeDeadLetter(body), {
    onNone: () => last.subject,
    onSome: ({ reason, service, subject }) => `${subject} of ${service}: ${reason.slice(0, 300)}`
  })
  return warning(
    "dead letters",
    `${count} in ${subjects(prefix).streams.dead}, the newest: ${newest}`,
    "'reprise dead-letters list' shows each; replay or drop it there. Other messages are not affected."
  )
})

/** Statistics that only the embedded server's system account may read. */
const statistics = Effect.fnUntraced(function* ({ project }: SystemOptions) {
  const endpoint = Option.getOrUndefined(yield* readEndpoint(project.directory))
  if (endpoint === undefined) return undefined
  const system = yield* Nats.make(systemConnectionTo(endpoint, "reprise-doctor"))
  return yield* statisticsOverSystem(system.nc)
})

const check = (options: SystemOptions) =>
  Effect.gen(function* () {
    const { prefix, replicas } = options.settings.nats
    const known = usesRemote(options)
      ? undefined
      : yield* statistics(options).pipe(Effect.orElseSucceed(() => undefined))
    const found = yield* health({
      prefix,
      replicas,
      ...(known === undefined ? {} : { statistics: Effect.succeed(known) })
    })
    const dead = found.streams.find(({ name }) => name === subjects(prefix).streams.dead)
    return [serverFinding(found), streamsFinding(found), yield* deadLettersFinding(dead?.messages ?? 0)]
  }).pipe(Effect.scoped, Effect.provide(messaging(options)))

const requireTrustedServer = ({ nats, project }: SystemOptions, config: Config) =>
  requireTrusted(project, config, nats === undefined ? serverSettings : credentialSettings)

export const checkBroker = (options: SystemOptions, config: Config): Effect.Effect<ReadonlyArray<Finding>> =>
  !usesRemote(options) && !isInitialised(options.project)
    ? Effect.succeed([ok("broker", "not started in this repository yet; 'reprise run' starts it")])
    : Effect.andThen(requireTrustedServer(options, config), check(options)).pipe(
        Effect.catch((error) =>
          Effect.succeed([
            broken(
              "broker",
              error instanceof Error ? error.message : String(error),
              error instanceof CliFailure ? error.hint : "No data is lost. Fix this and try again."
            )
          ])
        )
      )
