/** The image of deploy/Dockerfile, built as users build it, but from a base of this machine: nothing is pulled. */
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ContainerEngine, programContext } from "@reprise/testing"
import { Context, Effect, FileSystem, Layer, type Scope } from "effect"
import { type ContainerRuntimeClient, GenericContainer, getContainerRuntimeClient } from "testcontainers"

const root = new URL("../..", import.meta.url).pathname
const label = "dev.reprise.test-image"

export interface Ended {
  readonly code: number
  /** Standard output and error. */
  readonly output: string
}

interface RunOptions {
  /** In the place of the image's own, which is `reprise`. */
  readonly entrypoint?: ReadonlyArray<string>
  readonly environment?: Readonly<Record<string, string>>
}

/** A container as the manifests run it: with a read-only root and without any capability. On the host's network. */
export interface Running {
  /** Sends SIGTERM, and waits as long as a pod may take. */
  readonly stop: Effect.Effect<Ended>
  readonly ended: Effect.Effect<Ended>
}

export interface RepriseImageShape {
  readonly name: string
  readonly start: (args: ReadonlyArray<string>, options?: RunOptions) => Effect.Effect<Running, never, Scope.Scope>
  /** Bytes of the image and of its base. */
  readonly sizes: Effect.Effect<{ readonly image: number; readonly base: number }>
}

export class RepriseImage extends Context.Service<RepriseImage, RepriseImageShape>()("test/RepriseImage") {}

const createContainer = (
  { container: { dockerode } }: ContainerRuntimeClient,
  image: string,
  args: ReadonlyArray<string>,
  { entrypoint, environment = {} }: RunOptions
) =>
  dockerode.createContainer({
    Image: image,
    Cmd: [...args],
    ...(entrypoint === undefined ? {} : { Entrypoint: [...entrypoint] }),
    Env: Object.entries({ NO_COLOR: "1", ...environment }).map(([name, value]) => `${name}=${value}`),
    Labels: { [label]: String(process.pid) },
    // Else the engine mixes lengths of pieces into what it prints.
    Tty: true,
    HostConfig: {
      NetworkMode: "host",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"]
    }
  })

const startIn = (client: ContainerRuntimeClient, image: string): RepriseImageShape["start"] =>
  Effect.fnUntraced(function* (args, options = {}) {
    const container = yield* Effect.acquireRelease(
      Effect.promise(() => createContainer(client, image, args, options)),
      (created) => Effect.promise(() => created.remove({ force: true, v: true }))
    )
    yield* Effect.promise(() => container.start())
    const ended = Effect.promise(async (): Promise<Ended> => {
      const { StatusCode: code } = await container.wait({ condition: "not-running" })
      return { code, output: String(await container.logs({ stdout: true, stderr: true })) }
    })
    return {
      ended,
      stop: Effect.andThen(
        Effect.promise(() => container.stop({ t: 30 })),
        ended
      )
    }
  })

/** The engine's client. testcontainers reads its settings from the environment of the process, and only there. */
export const engineClient = Effect.gen(function* () {
  const { env } = yield* ContainerEngine
  yield* Effect.sync(() => Object.assign(process.env, env))
  return yield* Effect.promise(() => getContainerRuntimeClient())
})

const buildFrom = (folder: string, name: string, args: Record<string, string> = {}) =>
  Effect.promise(() => GenericContainer.fromDockerfile(folder).withBuildArgs(args).build(name, { deleteOnExit: false }))

/** A base image of programs of this machine, built once for each state of them and kept for the next time. */
export const buildBase = Effect.fnUntraced(function* (
  kind: string,
  programs: Readonly<Record<string, string>>,
  folders: ReadonlyArray<string> = []
) {
  const { container } = yield* engineClient
  const hash = createHash("sha256")
  for (const [at, program] of Object.entries(programs)) {
    const { mtimeMs, size } = statSync(program)
    hash.update(JSON.stringify([at, program, mtimeMs, size]))
  }
  const name = `localhost/reprise-test-${kind}:${hash.update(JSON.stringify(folders)).digest("hex").slice(0, 12)}`
  const isBuilt = yield* Effect.promise(() =>
    container.dockerode
      .getImage(name)
      .inspect()
      .then(
        () => true,
        () => false
      )
  )
  if (!isBuilt) yield* buildFrom(yield* programContext(programs, folders), name)
  return name
})

/** The base of services that only decide: Node, and nothing else. */
export const nodeBase = buildBase("base", { "/usr/local/bin/node": process.execPath })

/** A folder with the package that users install and the Dockerfile. */
export const packageFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "reprise-package-" })
  const pack = join(root, "deploy/package/src/main.ts")
  yield* Effect.promise(() => promisify(execFile)(process.execPath, [pack, "--output", folder]))
  copyFileSync(join(root, "deploy/Dockerfile"), join(folder, "Dockerfile"))
  return folder
})

/** Reprise on a base, removed with the scope. */
export const buildReprise = (
  { container: { dockerode } }: ContainerRuntimeClient,
  folder: string,
  base: string,
  name: string
) =>
  Effect.acquireRelease(buildFrom(folder, name, { BASE: base }), () =>
    Effect.promise(() => dockerode.getImage(name).remove({ force: true }))
  )

const build = Effect.gen(function* () {
  const client = yield* engineClient
  const images = client.container.dockerode
  const base = yield* nodeBase
  const name = `localhost/reprise-test:${process.pid}`
  yield* buildReprise(client, yield* packageFolder, base, name)
  const size = (of: string) => Effect.promise(async () => (await images.getImage(of).inspect()).Size)
  return RepriseImage.of({
    name,
    start: startIn(client, name),
    sizes: Effect.all({ image: size(name), base: size(base) })
  })
})

/** Built once for a test file, and removed with the scope; its base is kept for the next time. */
export const repriseImage = Layer.effect(RepriseImage, build).pipe(
  Layer.provide([ContainerEngine.layer, NodeServices.layer])
)
