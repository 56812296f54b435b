import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { formatVersion, locateServer, supports } from "@reprise/nats"
import { Effect, FileSystem, Path, type Scope } from "effect"
import type { ContainerRuntimeClient, GenericContainer } from "testcontainers"
import { TestBrokerError } from "./Broker.ts"

const run = promisify(execFile)

/** The libraries a program loads, by their paths: lines of `ldd`. A static program has none. */
export const librariesIn = (listing: string): ReadonlyArray<string> =>
  listing.split("\n").flatMap((line) => {
    const path = /(?:=> )?(\/\S+) \(0x[0-9a-f]+\)/.exec(line)?.[1]
    return path === undefined ? [] : [path]
  })

const librariesOf = (program: string) =>
  Effect.promise(() =>
    run("ldd", [program]).then(
      ({ stdout }) => librariesIn(stdout),
      () => []
    )
  )

export interface ServerImage {
  /** A container of the image, not started yet. */
  readonly container: GenericContainer
  readonly canSyncAlways: boolean
}

/** Makes a build context from the program and its libraries: a container needs nothing else, so nothing is pulled. */
const buildContext = Effect.fnUntraced(function* (program: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const context = yield* fs.makeTempDirectoryScoped({ prefix: "reprise-image-" })
  const put = (from: string, to: string) =>
    fs.makeDirectory(path.dirname(to), { recursive: true }).pipe(Effect.andThen(fs.copyFile(from, to)))
  yield* put(program, `${context}/root/nats-server`)
  for (const library of yield* librariesOf(program)) yield* put(library, `${context}/root${library}`)
  yield* fs.chmod(`${context}/root/nats-server`, 0o755)
  yield* fs.writeFileString(`${context}/Dockerfile`, "FROM scratch\nCOPY root/ /\n")
  return context
})

/**
 * An image of this machine's nats-server, built once for each program and kept as
 * `localhost/reprise-test-nats:<version>-<hash>`; or, where REPRISE_TEST_NATS_IMAGE names one, that image.
 */
export const serverImage = Effect.fn("serverImage")(
  function* (
    client: ContainerRuntimeClient
  ): Effect.fn.Return<ServerImage, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope> {
    const { GenericContainer } = yield* Effect.promise(() => import("testcontainers"))
    const named = process.env.REPRISE_TEST_NATS_IMAGE ?? ""
    if (named !== "") return { container: new GenericContainer(named), canSyncAlways: true }
    const fs = yield* FileSystem.FileSystem
    const server = yield* locateServer()
    const hash = createHash("sha256")
      .update(yield* fs.readFile(server.path))
      .digest("hex")
    const name = `localhost/reprise-test-nats:${formatVersion(server.version)}-${hash.slice(0, 12)}`
    const isBuilt = yield* Effect.promise(() =>
      client.container.dockerode
        .getImage(name)
        .inspect()
        .then(
          () => true,
          () => false
        )
    )
    if (!isBuilt) {
      const context = yield* buildContext(server.path)
      yield* Effect.tryPromise(() => GenericContainer.fromDockerfile(context).build(name, { deleteOnExit: false }))
    }
    const container = new GenericContainer(name).withEntrypoint(["/nats-server"])
    return { container, canSyncAlways: supports(server.version, "syncAlways") }
  },
  Effect.mapError((cause) => new TestBrokerError({ operation: "build its image", cause }))
)
