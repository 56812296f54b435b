/** Plans, requests and results that tests begin with. */
import { type GateResult, Host, type Item, RunId, RunOptions } from "@reprise/protocol"
import { Schema } from "effect"
import type { InputOf } from "../../src/run/inputs.ts"

export const runId = RunId.make("r1-test")
export const head = "0000000a"

export const twoPhases = `# Plan of two

## Phase 1: First things

- [ ] P1.1 Begin
- [ ] P1.2 Go on

**Completion gate:** all is well

## Phase 2: Second things

- [ ] P2.1 End
`

export const onePhase = `# Plan of one

## Phase 1: Only things

- [ ] P1.1 Begin
- [ ] P1.2 Look
- [ ] P1.3 End
`

export type OptionsInput = (typeof RunOptions)["Encoded"]
export const decodeOptions = Schema.decodeSync(RunOptions)
export const withGates: OptionsInput = { gates: { quality: ["npm test"] } }

export const startRun = (options: OptionsInput = {}, plan = twoPhases): InputOf<"StartRun"> => ({
  _tag: "StartRun",
  runId,
  plan,
  planPath: "docs/plan.md",
  workspace: "/repo",
  options: decodeOptions(options)
})

/** As the session-manager sends it. */
export const startStandalone: InputOf<"StartStandaloneRun"> = {
  _tag: "StartStandaloneRun",
  runId,
  prompt: "Write hello.txt.",
  runtime: "opencode",
  directory: "/repo",
  host: Host.make("host1"),
  permissions: "ask",
  limits: { maxTokens: 1000, inactivityMs: 5000 },
  // A story tells one thing a second.
  stuckAfterMs: 1000
}

export const failedGate: GateResult = {
  command: "npm test",
  exitCode: 1,
  durationMs: 5,
  timedOut: false,
  logRef: ".reprise/logs/x.log",
  head: "first words",
  tail: "last words"
}

export const item = (id: string, action: Item["action"] = "auto_fix", priority: Item["priority"] = "P1"): Item => ({
  id,
  title: `Title of ${id}`,
  action,
  reason: `Reason of ${id}`,
  priority
})
