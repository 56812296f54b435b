/** Where a world is. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"

/** Temporary directories of one test file. */
export class Places extends Context.Service<
  Places,
  { readonly root: string; readonly directory: string; readonly stateDirectory: string }
>()("agent/test/Places") {
  static readonly layer = Layer.effect(
    Places,
    Effect.acquireRelease(
      Effect.sync(() => {
        const root = mkdtempSync(join(tmpdir(), "reprise-agent-"))
        const directory = join(root, "work")
        mkdirSync(directory)
        return { root, directory, stateDirectory: join(root, "state") }
      }),
      ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
    )
  )
}
