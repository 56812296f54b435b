/** `reprise streams`: makes the streams of a NATS server whose services may not do so, or gives them new settings. */
import { remoteConnection } from "@reprise/actor"
import { type EnsuredStream, ensureStreams, jetStreamCode } from "@reprise/nats"
import { Effect, Schedule } from "effect"
import { remoteSettings } from "../../system/broker/broker.ts"
import { readable } from "../../system/broker/brokerTrouble.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { CliFailure, missing } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { servedProject } from "./servedProject.ts"

/** Whatever starts a cluster starts its servers at the same time. */
const untilThere = { schedule: Schedule.spaced("1 second"), times: 120 } as const

const codesOfStart: ReadonlyArray<number | undefined> = [
  jetStreamCode.noSuitablePeers,
  jetStreamCode.clusterNotAvailable
]

/** The servers cannot be reached yet, or have not all met yet. */
const isStarting = (error: { readonly _tag: string; readonly code?: number }): boolean =>
  error._tag === "BrokerUnreachable" || codesOfStart.includes(error.code)

const failureOf = (error: { readonly message: string }): CliFailure => {
  const shown = readable(error)
  return shown instanceof CliFailure
    ? shown
    : missing("streams", error.message, "Check the NATS server and the credentials.", error)
}

const line = ({ maxBytes, name, outcome }: EnsuredStream) => `${name}: ${outcome}, ${maxBytes} bytes`

export const makeStreams = Effect.fn("makeStreams")(function* (flags: ClientFlags) {
  const { settings, url } = yield* servedProject(flags, undefined, [])
  const { prefix, replicas } = settings.nats
  const broker = remoteConnection(remoteSettings(settings, url, "operator"))
  let said = ""
  const made = yield* ensureStreams(prefix, replicas === undefined ? {} : { replicas }).pipe(
    Effect.provide(broker),
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (!isStarting(error) || error.message === said) return
        said = error.message
        say(said)
      })
    ),
    Effect.retry({ ...untilThere, while: isStarting }),
    Effect.mapError(failureOf)
  )
  if (flags.json) return okJson(made)
  for (const stream of made) data(line(stream))
})
