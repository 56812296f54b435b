import { randomUUID } from "node:crypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import type { ContainerRuntimeClient } from "testcontainers"
import { ContainerEngine, type NoContainerEngine } from "../containers/ContainerEngine.ts"
import { Broker, type BrokerOptions, TestBrokerError } from "./Broker.ts"
import { openLink } from "./Link.ts"
import { awaitServer } from "./probeServer.ts"
import { serverImage } from "./serverImage.ts"
import { serverSettings } from "./serverSettings.ts"

const clientPort = 4222
const label = "dev.reprise.test-broker"
const config = "/etc/reprise/server.conf"

const attempt = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new TestBrokerError({ operation, cause }) })

const removeLabelled = async (client: ContainerRuntimeClient, id: string) => {
  const filters = { label: [`${label}=${id}`] }
  const found = await client.container.dockerode.listContainers({ all: true, filters })
  await Promise.all(found.map(({ Id }) => client.container.getById(Id).remove({ force: true, v: true })))
}

const make = Effect.fnUntraced(function* (options: BrokerOptions) {
  const engine = yield* ContainerEngine
  // testcontainers reads its settings from the environment of the process, and only there.
  yield* Effect.sync(() => Object.assign(process.env, engine.env))
  const { getContainerRuntimeClient, Wait } = yield* Effect.promise(() => import("testcontainers"))
  const client = yield* attempt("reach its engine", () => getContainerRuntimeClient())
  const image = yield* serverImage(client)
  const place = { host: "0.0.0.0", port: clientPort, storeDirectory: "/data" }
  const content = serverSettings(place, image.canSyncAlways, options.settings)
  const id = randomUUID()
  // By label, not by id: a container that was created but did not start must be removed too.
  yield* Effect.addFinalizer(() => Effect.ignore(attempt("remove its container", () => removeLabelled(client, id))))
  const started = yield* attempt("start its container", () =>
    image.container
      .withLabels({ [label]: id })
      .withExposedPorts(clientPort)
      .withCopyContentToContainer([{ content, target: config }])
      .withCommand(["-c", config])
      .withWaitStrategy(Wait.forLogMessage("Server is ready"))
      .start()
  )
  const container = client.container.getById(started.getId())
  const host = started.getHost()
  const link = yield* openLink

  /** A container that was started again may have another port on the host. */
  const leadToContainer = Effect.gen(function* () {
    const { NetworkSettings } = yield* attempt("be inspected", () => container.inspect())
    const bound = NetworkSettings.Ports[`${clientPort}/tcp`]?.[0]?.HostPort
    if (bound === undefined) {
      return yield* new TestBrokerError({ operation: "start", cause: new Error("its port is not bound") })
    }
    yield* link.leadTo(host, Number(bound))
    return yield* awaitServer(host, Number(bound))
  })
  const version = yield* leadToContainer
  const start = attempt("start", () => container.start()).pipe(Effect.andThen(leadToContainer), Effect.asVoid)
  const verb = (operation: string, run: () => Promise<unknown>) => Effect.asVoid(attempt(operation, run))
  const gone = verb("end", () => container.wait({ condition: "not-running" }))

  return Broker.of({
    kind: "container",
    version,
    url: `nats://127.0.0.1:${link.port}`,
    pid: Effect.map(
      attempt("be inspected", () => container.inspect()),
      ({ State }) => State.Pid
    ),
    kill: verb("be killed", () => container.kill({ signal: "SIGKILL" })).pipe(Effect.andThen(gone)),
    start,
    restart: verb("stop", () => container.stop({ t: 10 })).pipe(Effect.andThen(start)),
    retire: verb("be sent into lame-duck mode", () => container.kill({ signal: "SIGUSR2" })).pipe(
      Effect.andThen(gone),
      Effect.andThen(start)
    ),
    pause: verb("be paused", () => container.pause()),
    resume: verb("be resumed", () => container.unpause()),
    cut: link.cut,
    heal: link.heal
  })
})

/** A broker in a container, with more of the server's own configuration. */
export const containerBrokerWith = (options: BrokerOptions): Layer.Layer<Broker, TestBrokerError | NoContainerEngine> =>
  Layer.effect(Broker, make(options)).pipe(Layer.provide([ContainerEngine.layer, NodeServices.layer]))

/** A broker in a container of this machine's engine. */
export const containerBroker: Layer.Layer<Broker, TestBrokerError | NoContainerEngine> = containerBrokerWith({})
