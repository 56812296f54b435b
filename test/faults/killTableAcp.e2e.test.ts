// @module-tag long
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerAcp, locateOpenCode } from "@reprise/agent"
import { markedProcesses } from "@reprise/process"
import { Effect } from "effect"
import { afterAll } from "vitest"
import type { ClusterShape } from "../harness/Cluster.ts"
import { type KilledRuntime, killTable, makeFifo, readerOf } from "../harness/killTable.ts"
import type { World } from "../harness/World.ts"

const stateOf = (world: World) => join(world.root, ".reprise")

const folder = mkdtempSync(join(tmpdir(), "reprise-patient-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A stub that waits for the world's pipe, if there is one, before it becomes OpenCode. */
const patient = join(folder, "patient")
const program = await Effect.runPromise(locateOpenCode())
writeFileSync(
  patient,
  `#!/bin/sh\npipe=$(dirname "$HOME")/start.fifo\n[ -p "$pipe" ] && read -r _ <"$pipe"\nexec ${program} acp\n`
)
chmodSync(patient, 0o700)

/** Whether the process is the agent or about to become it, but neither its guard nor a tool. */
const isAgent = (pid: number): boolean => {
  try {
    const [first = "", second = ""] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return second === patient || (first === program && second === "acp")
  } catch {
    return false
  }
}

const kill = ({ world }: ClusterShape) =>
  Effect.map(markedProcesses(`REPRISE_ACP_STATE=${stateOf(world)}`), (pids) => {
    for (const pid of pids.filter(isAgent)) process.kill(pid, "SIGKILL")
  })

/** One process serves all sessions: it has to start again for the pipe to hold it. */
const unasked: KilledRuntime["unasked"] = Effect.fnUntraced(function* (cluster, session) {
  yield* makeFifo(cluster, "start.fifo")
  yield* kill(cluster)
  yield* session.start
  return yield* readerOf(cluster, "start.fifo")
})

killTable({
  runtime: `acp:${patient}`,
  mark: "REPRISE_ACP_STATE",
  continuation: "Your turn was interrupted.",
  keepsUnanswered: true,
  unasked,
  kill,
  withAgentRuntime: (world, effect) =>
    effect.pipe(
      Effect.provide(
        layerAcp({ command: patient, stateDirectory: stateOf(world), environment: world.environment, visiting: true })
      )
    )
})
