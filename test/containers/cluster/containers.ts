/** Containers, networks and volumes of one test, removed with its scope. */
import { randomUUID } from "node:crypto"
import { text } from "node:stream/consumers"
import { Effect, Schedule, Semaphore } from "effect"
import type { ContainerRuntimeClient } from "testcontainers"

/** On a network that leads nowhere else (`bus`), on one that leads to this machine (`outside`), or on both. */
export interface ContainerSpec {
  readonly name: string
  readonly image: string
  readonly command: ReadonlyArray<string>
  readonly entrypoint?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
  /** The last part of the address on the network `bus`, which stays the same; undefined: it is not on it. */
  readonly address?: number
  /** Further names on that network, which others may have, too. */
  readonly aliases?: ReadonlyArray<string>
  readonly outside?: boolean
  /** Volumes by their paths. */
  readonly volumes?: Readonly<Record<string, string>>
  /** The same for those that it can only read. */
  readonly files?: Readonly<Record<string, string>>
  /** Folders besides /tmp that it can write, and that end with it. */
  readonly scratch?: ReadonlyArray<string>
  readonly directory?: string
  /** As root, with the right to give files away. Default: as nobody, without any right. */
  readonly root?: boolean
}

export interface Ended {
  readonly code: number
  readonly output: string
}

const moreAndMoreRarely = Schedule.min([Schedule.exponential("200 millis"), Schedule.spaced("3 seconds")])

const label = "dev.reprise.test-cluster"

export type Container = Awaited<ReturnType<ContainerRuntimeClient["container"]["dockerode"]["createContainer"]>>

export const makeContainers = Effect.fnUntraced(function* ({ container: { dockerode } }: ContainerRuntimeClient) {
  const id = randomUUID().slice(0, 8)
  const subnet = `10.${100 + (process.pid % 100)}.${process.pid % 250}`
  const nameOf = (name: string) => `reprise-${id}-${name}`
  const filters = { label: [`${label}=${id}`] }
  const labels = { [label]: id }
  const run = <A>(work: () => Promise<A>) => Effect.promise(work)
  const one = Semaphore.makeUnsafe(1)
  /** Changes containers one after the other: of twenty that are made at once, podman 4.3 locks itself up. */
  const change = <A>(work: () => Promise<A>) => one.withPermits(1)(run(work))

  yield* Effect.addFinalizer(() =>
    run(async () => {
      // One after the other, as with all changes.
      for (const { Id } of await dockerode.listContainers({ all: true, filters })) {
        await dockerode.getContainer(Id).remove({ force: true, v: true })
      }
      const { Volumes } = await dockerode.listVolumes({ filters: JSON.stringify(filters) as never })
      for (const { Name } of Volumes) await dockerode.getVolume(Name).remove({ force: true })
      for (const { Id } of await dockerode.listNetworks({ filters })) await dockerode.getNetwork(Id).remove()
    })
  )
  yield* run(() =>
    dockerode.createNetwork({
      Name: nameOf("bus"),
      Internal: true,
      IPAM: { Driver: "default", Config: [{ Subnet: `${subnet}.0/24` }] },
      Labels: labels
    })
  )
  yield* run(() => dockerode.createNetwork({ Name: nameOf("outside"), Labels: labels }))
  const outside = yield* run(() => dockerode.getNetwork(nameOf("outside")).inspect())

  const ipOf = (address: number) => `${subnet}.${address}`
  const onBus = ({ address, aliases = [], name }: ContainerSpec) => ({
    ...(address === undefined ? {} : { IPAddress: ipOf(address), IPAMConfig: { IPv4Address: ipOf(address) } }),
    Aliases: [name, ...aliases]
  })
  const binds = (volumes: Readonly<Record<string, string>> = {}, suffix = "") =>
    Object.entries(volumes).map(([path, volume]) => `${nameOf(volume)}:${path}${suffix}`)

  const create = (spec: ContainerSpec): Promise<Container> =>
    dockerode.createContainer({
      name: nameOf(spec.name),
      Image: spec.image,
      Cmd: [...spec.command],
      ...(spec.entrypoint === undefined ? {} : { Entrypoint: [...spec.entrypoint] }),
      ...(spec.directory === undefined ? {} : { WorkingDir: spec.directory }),
      User: spec.root === true ? "0:0" : "65532:65532",
      Env: Object.entries({ NO_COLOR: "1", ...spec.environment }).map(([name, value]) => `${name}=${value}`),
      Labels: labels,
      Tty: true,
      HostConfig: {
        NetworkMode: spec.address === undefined && spec.outside === true ? nameOf("outside") : nameOf("bus"),
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        ...(spec.root === true ? { CapAdd: ["CHOWN"] } : {}),
        SecurityOpt: ["no-new-privileges"],
        Tmpfs: Object.fromEntries(["/tmp", ...(spec.scratch ?? [])].map((path) => [path, "rw,exec,mode=1777"])),
        Init: true,
        Binds: [...binds(spec.volumes), ...binds(spec.files, ":ro")]
      },
      NetworkingConfig: {
        EndpointsConfig: {
          ...(spec.address === undefined && spec.outside === true ? {} : { [nameOf("bus")]: onBus(spec) }),
          ...(spec.outside === true ? { [nameOf("outside")]: { Aliases: [spec.name] } } : {})
        }
      }
    })

  const logOf = async (container: Container): Promise<string> => {
    const log: unknown = await container.logs({ stdout: true, stderr: true })
    // What is JSON, the client has read already.
    return Buffer.isBuffer(log) || typeof log === "string" ? String(log) : JSON.stringify(log)
  }

  /** Asks now and then: podman 4.3 answers a request that waits by asking itself all the time, with a whole processor. */
  const ended = Effect.fnUntraced(function* (container: Container) {
    const { State } = yield* run(() => container.inspect()).pipe(
      Effect.repeat({ until: ({ State: { Running } }) => !Running, schedule: moreAndMoreRarely })
    )
    return { code: State.ExitCode, output: yield* run(() => logOf(container)) } satisfies Ended
  })

  /** Runs a program in a container that runs, to its end. */
  const execute = async (container: Container, command: ReadonlyArray<string>): Promise<void> => {
    const execution = await container.exec({ Cmd: [...command], AttachStdout: true, AttachStderr: true })
    const said = await text(await execution.start({}))
    const { ExitCode: code } = await execution.inspect()
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${said}`)
  }

  return {
    ipOf,
    execute,
    logOf,
    /** An address of this machine that containers on the network `outside` reach. */
    gateway: outside.IPAM?.Config?.[0]?.Gateway ?? "",
    volume: (name: string) => run(() => dockerode.createVolume({ Name: nameOf(name), Labels: labels })),
    removeVolume: (name: string) => run(() => dockerode.getVolume(nameOf(name)).remove({ force: true })),
    start: (spec: ContainerSpec) =>
      change(async () => {
        const container = await create(spec)
        await container.start()
        return container
      }),
    /** Runs a container to its end, and removes it. */
    runToEnd: (spec: ContainerSpec) =>
      Effect.acquireUseRelease(
        change(() => create(spec)),
        (container) =>
          Effect.andThen(
            change(() => container.start()),
            ended(container)
          ),
        (container) => change(() => container.remove({ force: true }))
      ),
    /** The address on the network `outside`. */
    outsideIp: (container: Container) =>
      run(async () => (await container.inspect()).NetworkSettings.Networks[nameOf("outside")]?.IPAddress ?? ""),
    ended,
    /** Has the engine end or remove a container. */
    change,
    /** Takes a container off the network `bus`: what was connected stays open, and nothing gets through. */
    cut: (container: Container) =>
      change(() => dockerode.getNetwork(nameOf("bus")).disconnect({ Container: container.id, Force: true })),
    heal: (container: Container, spec: ContainerSpec) =>
      change(() =>
        dockerode.getNetwork(nameOf("bus")).connect({ Container: container.id, EndpointConfig: onBus(spec) })
      )
  }
})
