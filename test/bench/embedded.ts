/** The server that `reprise run` starts for itself, with its configuration, in a directory that is removed at the end. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedServer, layerEmbeddedConnection } from "@reprise/nats"
import { Effect, Layer } from "effect"

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "reprise-bench-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

export const embedded = Layer.unwrap(
  Effect.map(directory, (path) =>
    layerEmbeddedConnection({ name: "bench" }).pipe(
      Layer.provideMerge(EmbeddedServer.layer({ directory: join(path, ".reprise") }))
    )
  )
)
