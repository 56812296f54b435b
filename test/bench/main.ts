/** `npm run bench [NAME [ARGUMENT]]`: benchmarks, each compared with a lower bound measured in the same run. */
import { comparePeers } from "../peers/main.ts"
import { autoResume } from "./autoResume.ts"
import { consoleLoad } from "./consoleLoad.ts"
import { continuationPrompt } from "./continuationPrompt.ts"
import { durableStep } from "./durableStep.ts"
import { fiftySessions } from "./fiftySessions.ts"
import { imageStart } from "./imageStart.ts"
import { longRun } from "./longRun.ts"
import { openCodeFolders } from "./openCodeFolders.ts"
import { manyParkedRuns } from "./parkedRuns/manyParkedRuns.ts"
import { liveRuns, parkedRuns } from "./parkedRuns/parkedRuns.ts"
import { report } from "./report.ts"
import { reviewTokens } from "./reviewTokens.ts"
import { sandbox } from "./sandbox.ts"
import { savedTurns } from "./savedTurns.ts"
import { startUp } from "./startUp/startUp.ts"
import { turn } from "./turn.ts"

const benchmarks: Readonly<Record<string, (argument?: string) => Promise<void>>> = {
  "console-load": consoleLoad,
  "continuation-prompt": continuationPrompt,
  "auto-resume": autoResume,
  "durable-step": durableStep,
  "fifty-sessions": fiftySessions,
  "image-start": imageStart,
  "live-runs": liveRuns,
  "long-run": longRun,
  "many-parked-runs": manyParkedRuns,
  "open-code-folders": openCodeFolders,
  "parked-runs": parkedRuns,
  report,
  "review-tokens": reviewTokens,
  sandbox,
  "saved-turns": savedTurns,
  "start-up": startUp,
  turn
}

const [wanted, ...others] = process.argv.slice(2)
// Only by its name: it installs what it compares with.
if (wanted === "peers") await comparePeers(others)
for (const [name, run] of Object.entries(benchmarks)) {
  if (wanted !== undefined && wanted !== name) continue
  process.stdout.write(`\n## ${name}\n`)
  await run(others[0])
}
