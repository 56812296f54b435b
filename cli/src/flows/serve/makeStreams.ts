/** `reprise streams`: makes the streams of a NATS server whose services may not do so, or gives them new settings. */
import { remoteConnection } from "@reprise/actor"
import { type EnsuredStream, ensureStreams } from "@reprise/nats"
import { Effect, Schedule } from "effect"
import { remoteSettings } from "../../system/broker.ts"
import { readable } from "../../system/brokerTrouble.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { CliFailure, missing } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { servedProject } from "./servedProject.ts"

/** Whatever starts a cluster starts its servers at the same time. */
const untilThere = { schedule: Schedule.spaced("1 second"), times: 120 } as const

const failureOf = (error: { readonly message: string }): CliFailure => {
  const shown = readable(error)
  return shown instanceof CliFailure
    ? shown
    : missing("streams", error.message, "Look at the NATS server, and at the credentials.", error)
}

const line = ({ maxBytes, name, outcome }: EnsuredStream) => `${name}: ${outcome}, ${maxBytes} bytes`

export const makeStreams = Effect.fn("makeStreams")(function* (flags: ClientFlags) {
  const { settings, url } = yield* servedProject(flags, undefined, [])
  const { prefix, replicas } = settings.nats
  const broker = remoteConnection(remoteSettings(settings, url, "operator"))
  let waiting = false
  const made = yield* ensureStreams(prefix, replicas === undefined ? {} : { replicas }).pipe(
    Effect.provide(broker),
    Effect.tapErrorTag("BrokerUnreachable", ({ message }) =>
      Effect.sync(() => {
        if (!waiting) say(message)
        waiting = true
      })
    ),
    Effect.retry({ ...untilThere, while: ({ _tag }) => _tag === "BrokerUnreachable" }),
    Effect.mapError(failureOf)
  )
  if (flags.json) return okJson(made)
  for (const stream of made) data(line(stream))
})
