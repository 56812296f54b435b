import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { AgentRuntimes, layerOpenCode, OpenCodeServer } from "@reprise/agent"
import { Host } from "@reprise/protocol"
import { Effect, Layer } from "effect"
import { layerWith } from "../src/service.ts"
import { stage } from "./support/stage.ts"
import { newTurn } from "./support/story.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-hanging-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
)

/** A server that starts and never answers. It has long enough to write its line on a slow machine. */
const hanging = Layer.unwrap(
  Effect.map(folder, (root) => {
    const command = join(root, "opencode")
    writeFileSync(command, "#!/bin/sh\necho here I am\nexec sleep 600\n")
    chmodSync(command, 0o755)
    return OpenCodeServer.layer({ stateDirectory: join(root, "state"), command, startTimeoutMs: 15_000 })
  })
)

const world = layerWith().pipe(
  Layer.provideMerge(Layer.mergeAll(AgentRuntimes.layerSingle, Messenger.layer)),
  Layer.provideMerge(layerOpenCode()),
  Layer.provide(hanging),
  Layer.provideMerge(MemoryBroker.layer),
  Layer.provideMerge(ActorConfig.layer())
)

describe("a runtime that hangs when it starts", () => {
  it.live("ends the turn with the runtime's own message when its time is up", () =>
    Effect.gen(function* () {
      const { awaitEvent, send, storyUntil } = yield* stage
      yield* send(newTurn(1, { host: Host.make("local") }))
      const failed = yield* awaitEvent("TurnFailed")
      assert.deepInclude(failed, { kind: "gone", sessionUsable: false })
      assert.include(failed.message, "here I am")
      assert.deepStrictEqual(yield* storyUntil("TurnFailed"), ["AgentGone", "TurnFailed"])
    }).pipe(Effect.provide(world))
  )
})
