// @module-tag long
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe } from "@effect/vitest"
import { layerClaude } from "@reprise/agent"
import { markedProcesses } from "@reprise/process"
import { lacksClaude, linkClaudeSdk } from "@reprise/testing"
import { Effect } from "effect"
import { type KilledRuntime, killTable, makeFifo, readerOf } from "../harness/killTable.ts"
import type { World } from "../harness/World.ts"

const stateOf = (world: World) => join(world.root, ".reprise")

/** Whether the process is Claude or about to become it, but not the guard, whose arguments name Claude too. */
const isClaude = (pid: number): boolean => {
  try {
    const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return argv.slice(0, 2).some((word) => word.endsWith("/claude"))
  } catch {
    return false
  }
}

const unasked: KilledRuntime["unasked"] = Effect.fnUntraced(function* (cluster, session) {
  yield* makeFifo(cluster, "start.fifo")
  yield* session.start
  return yield* readerOf(cluster, "start.fifo")
})

/** A stub that waits for the pipe, if there is one, before it starts Claude and reads its input. */
const patientClaude = (folder: string) => {
  const stub = join(folder, "patient", "claude")
  mkdirSync(dirname(stub))
  writeFileSync(
    stub,
    `#!/bin/sh\n[ -p ${folder}/start.fifo ] && read -r _ <${folder}/start.fifo\nexec ${process.env["REPRISE_CLAUDE"]} "$@"\n`
  )
  chmodSync(stub, 0o700)
  linkClaudeSdk(dirname(stub))
  return { REPRISE_CLAUDE: stub }
}

describe.skipIf(lacksClaude)("on Claude", () =>
  killTable({
    runtime: "claude",
    mark: "REPRISE_CLAUDE_STATE",
    world: { environment: patientClaude },
    continuation: "Your turn was interrupted.",
    unasked,
    kill: ({ world }) =>
      Effect.map(markedProcesses(`REPRISE_CLAUDE_STATE=${stateOf(world)}`), (pids) => {
        for (const pid of pids.filter(isClaude)) process.kill(pid, "SIGKILL")
      }),
    withAgentRuntime: (world, effect) =>
      effect.pipe(
        Effect.provide(layerClaude({ stateDirectory: stateOf(world), environment: world.environment, visiting: true }))
      )
  })
)
