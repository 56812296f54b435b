/** A story for people: what the broker stored, and when. */
import type { Story } from "./simulate.ts"
import { faultText } from "./world/faults.ts"

const longestBody = 160

export const storyText = ({ elapsedMs, happened, hash, progress, record, steps, unrest, world }: Story): string =>
  [
    ...record
      .filter(({ kind }) => kind !== "journal")
      .map(
        ({ atMs, body, kind, step, subject, type }) =>
          `${(atMs / 1000).toFixed(3).padStart(10)} s ${String(step).padStart(6)} ${kind.padEnd(7)} ${type} ${subject.split(".").slice(2).join(".")} ${body.slice(0, longestBody)}`
      ),
    "",
    `seed ${world.seed}: ${steps} steps in ${Math.round(elapsedMs / 1000)} s, hash ${hash}, ${world.replicas} replicas`,
    ...[...progress.states].map(([runId, state]) => `run ${runId}: ${JSON.stringify(state)}`),
    ...happened.map((fault) => `happened: ${faultText(fault)}`),
    ...(unrest === undefined ? [] : [unrest])
  ].join("\n")
