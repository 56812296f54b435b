import { createHash } from "node:crypto"
import { formatVersion, locateServer, supports } from "@reprise/nats"
import { Effect, FileSystem, type Path, type Scope } from "effect"
import type { ContainerRuntimeClient, GenericContainer } from "testcontainers"
import { programContext } from "../containers/programImage.ts"
import { TestBrokerError } from "./Broker.ts"

export interface ServerImage {
  readonly name: string
  /** A container of the image, not started yet. */
  readonly container: GenericContainer
  readonly canSyncAlways: boolean
}

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
    if (named !== "") return { name: named, container: new GenericContainer(named), canSyncAlways: true }
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
      const context = yield* programContext({ "/nats-server": server.path })
      yield* Effect.tryPromise(() => GenericContainer.fromDockerfile(context).build(name, { deleteOnExit: false }))
    }
    const container = new GenericContainer(name).withEntrypoint(["/nats-server"])
    return { name, container, canSyncAlways: supports(server.version, "syncAlways") }
  },
  Effect.mapError((cause) => new TestBrokerError({ operation: "build its image", cause }))
)
