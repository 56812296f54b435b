/**
 * Whether a service that runs alone can do its work, and what it waits for if it cannot
 * (docs/operations.md#health-of-a-service).
 */
import type { NatsShape } from "@reprise/nats"
import { Context, Effect, Layer } from "effect"

export type Stage = "connecting" | "preparing" | "starting" | "ready" | "stopping"

export interface ReadinessShape {
  /** Its stages, in this order. */
  readonly connected: (nats: NatsShape) => Effect.Effect<void>
  readonly prepared: Effect.Effect<void>
  readonly ready: Effect.Effect<void>
  readonly stopping: Effect.Effect<void>
  /** It waits for this, too, as long as it is not there. */
  readonly needs: (what: string, isMet: () => boolean) => Effect.Effect<void>
  /** What the service waits for; undefined: it is ready. */
  readonly waitsFor: Effect.Effect<string | undefined>
  /** Why this process can never do its work again; undefined: it can. */
  readonly dead: Effect.Effect<string | undefined>
}

const waits: Readonly<Record<Stage, string | undefined>> = {
  connecting: "a NATS server that answers",
  preparing: "the streams on the NATS server",
  starting: "its consumers and, on a host, for an earlier process of this host's name to end",
  ready: undefined,
  stopping: "its end: it takes no more work"
}

interface Standing {
  readonly stage: Stage
  /** Undefined: there was no connection yet. */
  readonly connection: Effect.Success<NatsShape["status"]> | undefined
  /** What is needed on the host and is not there. */
  readonly unmet: string | undefined
}

/** What a service waits for; undefined: it is ready. What nothing else can be done without comes first. */
export const waitsForIn = ({ connection, stage, unmet }: Standing): string | undefined => {
  if (stage === "stopping") return waits.stopping
  if (connection !== undefined && connection !== "connected") return "its connection to the NATS server, which is lost"
  return waits[stage] ?? unmet
}

const make = Effect.sync((): ReadinessShape => {
  let stage: Stage = "connecting"
  let nats: NatsShape | undefined
  let unmet: () => string | undefined = () => undefined
  const enter = (next: Stage) =>
    Effect.sync(() => {
      stage = next
    })
  const status = Effect.suspend(() => (nats === undefined ? Effect.undefined : nats.status))
  return {
    connected: (connection) =>
      Effect.sync(() => {
        nats = connection
        stage = "preparing"
      }),
    prepared: enter("starting"),
    ready: enter("ready"),
    stopping: enter("stopping"),
    needs: (what, isMet) =>
      Effect.sync(() => {
        unmet = () => (isMet() ? undefined : what)
      }),
    waitsFor: Effect.map(status, (connection) => waitsForIn({ stage, connection, unmet: unmet() })),
    dead: Effect.map(status, (now) =>
      now === "closed" && stage !== "stopping" ? "The NATS server does not accept this service any more." : undefined
    )
  }
})

export class Readiness extends Context.Service<Readiness, ReadinessShape>()("@reprise/actor/Readiness") {
  static readonly layer = Layer.effect(Readiness, make)
}
