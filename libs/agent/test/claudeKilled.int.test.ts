// @module-tag long
/** A Claude whose processes are killed at each start. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, layer } from "@effect/vitest"
import { lacksClaude } from "@reprise/testing"
import { Context, Effect, Layer } from "effect"
import { AgentRuntime, layerClaude } from "../src/index.ts"
import { defaultRestarts } from "../src/restarts.ts"
import { ClaudeProcesses, claudeWorld } from "./contract/claudeWorld.ts"
import { Places } from "./contract/Places.ts"
import { countingCalls, newIds, newSession, say } from "./contract/World.ts"

/** A runtime whose program is killed so often before it is Claude. */
const killedAtStart = Effect.fnUntraced(function* (times: number, mostEnds: number) {
  const { root, stateDirectory } = yield* Places
  const { environment } = yield* ClaudeProcesses
  const starts = join(root, `starts-${times}`)
  const program = join(root, `killed-claude-${times}`)
  const lines = [
    `echo start >> '${starts}'`,
    `[ $(wc -l < '${starts}') -gt ${times} ] || kill -KILL $$`,
    `exec '${environment["REPRISE_CLAUDE"]}' "$@"`
  ]
  // Its SDK is looked for beside it.
  if (!existsSync(join(root, "node_modules"))) {
    symlinkSync(dirname(dirname(dirname(environment["REPRISE_CLAUDE"] ?? ""))), join(root, "node_modules"))
  }
  writeFileSync(program, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 })
  const context = yield* Layer.build(
    layerClaude({
      stateDirectory,
      environment: { ...environment, REPRISE_CLAUDE: program },
      pollMs: 100,
      restarts: { ...defaultRestarts, firstPauseMs: 1, longestPauseMs: 10, mostEnds }
    })
  )
  return {
    runtime: Context.get(context, AgentRuntime),
    starts: () => readFileSync(starts, "utf8").split("\n").length - 1
  }
})

describe.skipIf(lacksClaude)("a Claude that is killed at each start", () => {
  layer(claudeWorld, { excludeTestServices: true, timeout: "15 minutes" })((it) => {
    it.effect("is started again, and the turn has one prompt", () =>
      Effect.gen(function* () {
        const { runtime, starts } = yield* killedAtStart(12, 20)
        yield* Effect.gen(function* () {
          const id = yield* newSession("all")
          const { calls, result } = yield* countingCalls(say(id, "say hello"))
          assert.deepStrictEqual([result.attempts, starts(), calls], [13, 13, 1])
        }).pipe(Effect.provideService(AgentRuntime, runtime))
      })
    )

    it.effect("is gone when it is killed too often, and the same session and prompt go on afterwards", () =>
      Effect.gen(function* () {
        const { runtime } = yield* killedAtStart(4, 3)
        yield* Effect.gen(function* () {
          const id = yield* newSession("all")
          const ids = newIds()
          const error = yield* Effect.flip(say(id, "say hello", ids))
          assert.deepStrictEqual([error.kind, error.sessionUsable], ["gone", true])
          assert.match(error.detail, /^Claude ended 4 times within 1 s in this turn/)
          assert.strictEqual((yield* say(id, "say hello", ids)).stopReason, "finished")
        }).pipe(Effect.provideService(AgentRuntime, runtime))
      })
    )
  })
})
