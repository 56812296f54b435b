/** A cluster of containers with a scripted model, and verbs that kill, cut off, destroy and replace each of them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Identity, NatsShape } from "@reprise/nats"
import { type ScriptedModelHandle, type ScriptInput, startScriptedModel } from "@reprise/scripted-model"
import { ContainerEngine } from "@reprise/testing"
import { Context, Effect, Layer, type Scope } from "effect"
import { waitUntil } from "../../harness/waitUntil.ts"
import { relay } from "../relay.ts"
import { engineClient } from "../repriseImage.ts"
import { type Container, type ContainerSpec, type Ended, makeContainers } from "./containers.ts"
import { clusterKeys, loginOf, type Volumes } from "./credentials.ts"
import { clusterImages } from "./images.ts"
import { natsAddress, natsServers } from "./natsServers.ts"
import { clientEnvironment, type Part, partsOf, volumes } from "./parts.ts"
import { refusalsIn } from "./refusals.ts"

/** A time in which agents were cut off in mid-turn, so that a call of the model may come again. */
export interface Disturbance {
  readonly part: string
  readonly atMs: number
}

export interface ContainerClusterShape {
  readonly model: ScriptedModelHandle
  readonly parts: ReadonlyArray<Part>
  /** The operator's connection. */
  readonly nats: NatsShape
  /** Connects to one of the NATS servers. */
  readonly connect: (identity: Identity, server: string) => Effect.Effect<NatsShape, unknown, Scope.Scope>
  /** What the NATS servers have refused anybody so far. */
  readonly refusals: Effect.Effect<ReadonlyArray<string>>
  /** Runs a command in a clone of the repository, as a person, in a container of its own, until it ends. */
  readonly reprise: (...args: ReadonlyArray<string>) => Effect.Effect<Ended>
  /** Runs git on the remote. */
  readonly git: (...args: ReadonlyArray<string>) => Effect.Effect<string>
  /** Gives the repository more plans, which are pushed. */
  readonly addPlans: (files: Readonly<Record<string, string>>) => Effect.Effect<void>
  /** SIGKILL, and another container in its place; completes when it is ready. */
  readonly killAndStart: (part: Part) => Effect.Effect<void>
  /** What a pod does before its end, SIGTERM with the time that it has, and a container of the next release in its place. */
  readonly replace: (part: Part) => Effect.Effect<void>
  /** Partitions a host from NATS, and ends the partition; its agent keeps its model. */
  readonly cut: (host: string) => Effect.Effect<void>
  readonly heal: (host: string) => Effect.Effect<void>
  /** Kills everything on a host, and removes its volume. */
  readonly destroyHost: (host: string) => Effect.Effect<void>
  /** Starts the containers of a host that was destroyed, on an empty volume. */
  readonly newHost: (host: string) => Effect.Effect<void>
  readonly disturbances: ReadonlyArray<Disturbance>
}

export class ContainerCluster extends Context.Service<ContainerCluster, ContainerClusterShape>()(
  "test/ContainerCluster"
) {}

/** Runs in a container as root: writes the files of volumes and gives the volumes to nobody. */
const prepare = `
const fs = require("node:fs"), path = require("node:path")
const give = (name) => {
  fs.chownSync(name, 65532, 65532)
  if (fs.statSync(name).isDirectory()) for (const one of fs.readdirSync(name)) give(path.join(name, one))
}
for (const [volume, files] of Object.entries(JSON.parse(process.argv[1]))) {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join("/volumes", volume, name)), { recursive: true })
    fs.writeFileSync(path.join("/volumes", volume, name), text, { mode: 0o600 })
  }
  give(path.join("/volumes", volume))
}
`

const isOk = (url: string, login: string | undefined) =>
  Effect.promise(() =>
    fetch(url, {
      signal: AbortSignal.timeout(2_000),
      headers: login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString("base64")}` }
    }).then(
      ({ ok }) => (ok ? true : undefined),
      () => undefined
    )
  )

const make = Effect.fnUntraced(function* (script: ScriptInput) {
  const client = yield* engineClient
  const images = yield* clusterImages
  const containers = yield* makeContainers(client)
  const model = yield* startScriptedModel({ script })
  const { port } = yield* relay(model.port)
  const { gateway, ipOf, start, runToEnd } = containers
  const keys = yield* clusterKeys
  const parts = partsOf(images, keys, `http://${gateway}:${port}/v1`)
  const running = new Map<string, Container>()
  const disturbances: Array<Disturbance> = []
  const refusals: Array<string> = []

  const inPerson = (spec: Pick<ContainerSpec, "entrypoint" | "command" | "environment" | "files" | "name">) =>
    runToEnd({
      ...spec,
      image: images.host.now,
      directory: "/workspace",
      volumes: { "/workspace": "person", "/remote": "remote" },
      environment: {
        ...clientEnvironment,
        ...spec.environment,
        REPRISE_HOST: "person",
        TERM: "dumb",
        GIT_PAGER: "cat"
      },
      address: 100 + (count++ % 150)
    })
  let count = 0

  const makeVolumes = Effect.fnUntraced(function* (made: Volumes) {
    const names = Object.keys(made)
    for (const name of names) yield* containers.volume(name)
    const { code, output } = yield* runToEnd({
      name: `prepare-${count++}`,
      image: images.host.now,
      root: true,
      outside: true,
      volumes: Object.fromEntries(names.map((name) => [`/volumes/${name}`, name])),
      entrypoint: ["node"],
      command: ["--eval", prepare, JSON.stringify(made)]
    })
    if (code !== 0) return yield* Effect.die(new Error(output))
  })

  const shell = Effect.fnUntraced(function* (text: string) {
    const name = `shell-${count++}`
    const { code, output } = yield* inPerson({ name, entrypoint: ["sh"], command: ["-ec", text] })
    return code === 0 ? output : yield* Effect.die(new Error(`${text}\n${output}`))
  })

  const containerOf = (name: string) =>
    running.get(name) ?? Effect.runSync(Effect.die(new Error(`there is no ${name}`)))
  const urlOf = Effect.fnUntraced(function* ({ health, spec }: Part) {
    const ip = spec.address === undefined ? yield* containers.outsideIp(containerOf(spec.name)) : ipOf(spec.address)
    return `http://${ip}:${health.port}${health.path}`
  })
  const ready = (part: Part) =>
    Effect.flatMap(urlOf(part), (url) => Effect.asVoid(waitUntil(isOk(url, part.health.login))))
  const remove = Effect.fnUntraced(function* ({ kind }: Part, container: Container) {
    if (kind === "nats") refusals.push(...refusalsIn(yield* Effect.promise(() => containers.logOf(container))))
    yield* containers.change(() => container.remove({ force: true }))
  })
  /**
   * A NATS server that does not become ready is started again, as the kubelet does: nats-server 2.10.27 sometimes never
   * catches up with the others after it was killed ("JetStream is not current with the meta leader").
   */
  const startPart = Effect.fnUntraced(function* (part: Part, image = part.spec.image) {
    for (;;) {
      const container = yield* start({ ...part.spec, image })
      running.set(part.spec.name, container)
      const early = Effect.flatMap(containers.ended(container), ({ output }) =>
        Effect.die(new Error(`${part.spec.name} ended: ${output.slice(-2_000)}`))
      )
      const outcome = Effect.as(Effect.raceFirst(ready(part), early), true)
      const isReady =
        part.kind === "nats"
          ? yield* Effect.timeoutOrElse(outcome, { duration: "2 minutes", orElse: () => Effect.succeed(false) })
          : yield* outcome
      if (isReady) return
      process.stdout.write(`${part.spec.name} is started again: it was not ready after 2 minutes\n`)
      yield* remove(part, container)
    }
  })
  const disturb = ({ kind, spec }: Part) => {
    if (kind === "agent") disturbances.push({ part: spec.name, atMs: Date.now() })
  }
  /** A container is not started again but replaced by another one on the same volumes, as in a pod. */
  const replaceBy = Effect.fnUntraced(function* (
    part: Part,
    image: string,
    end: (container: Container) => Promise<unknown>
  ) {
    const container = containerOf(part.spec.name)
    yield* containers.change(() => end(container))
    // Now it makes no call any more, and the next one none yet.
    disturb(part)
    yield* remove(part, container)
    yield* startPart(part, image)
    disturb(part)
  })
  const partsOfHost = (host: string) =>
    parts.filter(({ kind, spec }) => (kind === "agent" || kind === "host") && spec.volumes?.["/workspace"] === host)
  const busOf = (host: string) => partsOfHost(host).filter(({ kind }) => kind === "host")

  // Apart, since the arguments of a program are limited.
  yield* makeVolumes(volumes)
  yield* makeVolumes(keys.volumes)
  const servers = parts.filter(({ kind }) => kind === "nats")
  const others = parts.filter(({ kind }) => kind !== "nats")
  yield* Effect.forEach(servers, (part) => startPart(part), { concurrency: 3 })
  yield* shell(
    "git init -q --bare -b main /remote/code.git; git clone -q file:///remote/code.git code 2> /dev/null; cd code; git checkout -q -b main; touch README; git add -A; git commit -qm Start; git push -q origin main"
  )
  const repriseAs = (identity: Identity, ...args: ReadonlyArray<string>) => {
    const line = `cd code && exec node /opt/reprise/package/bin/reprise.js "$@"`
    const name = `${identity}-${count++}`
    return inPerson({ ...loginOf(identity), name, entrypoint: ["sh"], command: ["-c", line, "sh", ...args] })
  }
  const made = yield* repriseAs("operator", "streams")
  if (made.code !== 0) return yield* Effect.die(new Error(made.output))
  yield* Effect.forEach(others, (part) => startPart(part), { concurrency: "unbounded" })

  const addressOf = (server: string) => `nats://${ipOf(natsAddress(server))}:4222`
  const nats = yield* keys.connect("operator", natsServers.map(addressOf)).pipe(Effect.orDie)
  return ContainerCluster.of({
    model,
    parts,
    nats,
    connect: (identity, server) => keys.connect(identity, addressOf(server)),
    refusals: Effect.promise(async () => {
      const logs = servers.map(({ spec }) => containers.logOf(containerOf(spec.name)))
      return [...refusals, ...(await Promise.all(logs)).flatMap(refusalsIn)]
    }),
    disturbances,
    reprise: (...args) => repriseAs("person", ...args),
    git: (...args) => shell(`git --git-dir /remote/code.git ${args.join(" ")}`),
    addPlans: Effect.fnUntraced(function* (files) {
      const writes = Object.entries(files).map(([name, text]) => `printf '%s' '${text}' > ${name}`)
      yield* shell(`cd code; ${writes.join("; ")}; git add -A; git commit -qm Plans; git push -q origin main`)
    }),
    killAndStart: (part) =>
      replaceBy(part, part.spec.image, async (container) => {
        await container.kill({ signal: "SIGKILL" })
        await container.wait({ condition: "not-running" })
      }),
    replace: (part) =>
      replaceBy(part, part.next, async (container) => {
        if (part.preStop !== undefined) await containers.execute(container, part.preStop)
        await container.stop({ t: part.graceSeconds })
        const { StatusCode: code } = await container.wait()
        // An agent ends as it likes.
        if (part.kind !== "agent" && code !== 0) throw new Error(`${part.spec.name} ended with ${code} on SIGTERM`)
      }),
    cut: (host) =>
      Effect.forEach(busOf(host), (part) => containers.cut(containerOf(part.spec.name)), { discard: true }),
    heal: (host) =>
      Effect.forEach(busOf(host), (part) => containers.heal(containerOf(part.spec.name), part.spec), { discard: true }),
    destroyHost: Effect.fnUntraced(function* (host) {
      partsOfHost(host).forEach(disturb)
      for (const part of partsOfHost(host))
        yield* containers.change(() => containerOf(part.spec.name).remove({ force: true }))
      yield* containers.removeVolume(host)
    }),
    newHost: Effect.fnUntraced(function* (host) {
      yield* makeVolumes({ [host]: volumes[host] ?? {} })
      yield* Effect.forEach(partsOfHost(host), (part) => startPart(part), { concurrency: "unbounded" })
    })
  })
})

/** A cluster whose services are ready. */
export const containerCluster = (script: ScriptInput) =>
  Layer.effect(ContainerCluster, make(script)).pipe(Layer.provide([ContainerEngine.layer, NodeServices.layer]))
