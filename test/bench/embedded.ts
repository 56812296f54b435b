/**
 * The server that `reprise run` starts for itself, in a directory that is removed at the end. The benchmarks are services
 * and operator at once, so everybody may do everything there.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { EmbeddedServer, layerEmbeddedConnection } from "@reprise/nats"
import { openTemplate } from "@reprise/nats/testing"
import { Effect, Layer } from "effect"

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "reprise-bench-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

export const embedded = Layer.unwrap(
  Effect.map(directory, (path) =>
    layerEmbeddedConnection({ name: "bench" }).pipe(
      Layer.provideMerge(EmbeddedServer.layer({ directory: join(path, ".reprise"), template: openTemplate }))
    )
  )
)
