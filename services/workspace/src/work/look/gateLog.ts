/** What is shown of the log of a quality gate, a file that whatever the gate ran can replace. */
import { join } from "node:path"
import { readForeignEnd } from "@reprise/process"
import type { ConsoleText, RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { isLogOf } from "../qualityGates/logNames.ts"

const unreadable = { text: "The log cannot be read.", omitted: 0 }

/**
 * The end of a log of this run, since it tells there why it failed. A link, another file's second name and any other
 * file than a log of the run are not read. `root`: of the repository; `logRef`: as results of quality gates name it.
 */
export const gateLog = (root: string, runId: RunId, logRef: string, largestBytes: number): Effect.Effect<ConsoleText> =>
  (isLogOf(runId, logRef)
    ? Effect.tryPromise(() => readForeignEnd(join(root, logRef), { largestBytes, below: root }))
    : Effect.undefined
  ).pipe(
    Effect.orElseSucceed(() => undefined),
    Effect.map((end) => ({ name: logRef, ...(end ?? unreadable) }))
  )

/** Of all logs together, and of one. */
const mostBytes = 8 * 1024 * 1024
const mostBytesOfOne = 2 * 1024 * 1024

/** Every one of them as a page shows it. */
export const gateLogs = (root: string, runId: RunId, logRefs: ReadonlyArray<string>) => {
  const largestBytes = Math.min(mostBytesOfOne, Math.floor(mostBytes / Math.max(1, logRefs.length)))
  return Effect.forEach(logRefs, (logRef) => gateLog(root, runId, logRef, largestBytes))
}
