/** The beginning of a run (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { defined } from "@reprise/protocol"
import { Result } from "effect"
import { completeRun, failRun } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvent, RunEvents } from "../run/journal.ts"
import { next, type Outcome, outcome } from "../run/moves.ts"
import { nextPhase, type RunPlan, toRunPlan, withStartPhase } from "../run/plan.ts"
import { standaloneRequested } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"
import { prepareWorkspace } from "./prepareWorkspace.ts"

const requested = (request: InputOf<"StartRun">, at: string) => {
  const read = toRunPlan(request.plan, request.planPath)
  const plan = Result.flatMap(read, (whole) => withStartPhase(whole, request.options.startPhase))
  const unread: RunPlan = { planId: request.planPath, phases: [] }
  const event: RunEvent = { _tag: "RunRequested", request, ...Result.getOrElse(plan, () => unread), at }
  return { event, problem: Result.isFailure(plan) ? plan.failure : undefined }
}

const begin = (run: Run): RunEvents => {
  const { phases, request, runId } = run
  const started: RunEvent = {
    _tag: "RunStarted",
    runId,
    planPath: request.planPath,
    workspace: request.workspace,
    ...defined({ remote: request.remote }),
    phases: phases.map(({ id, title }) => ({ id, title }))
  }
  return [started, ...(nextPhase(run) === undefined ? completeRun(run) : prepareWorkspace(run))]
}

/** A plan that cannot be read fails the run before anything is touched; one with nothing to do completes it. */
export const startRun = (request: InputOf<"StartRun">, at: string): Outcome => {
  const { event, problem } = requested(request, at)
  return outcome(
    [event],
    next((run) => outcome(problem === undefined ? begin(run) : failRun(run, problem)))
  )
}

/** Nothing is prepared and no plan is read: its only phase begins at once. */
export const startStandaloneRun = (request: InputOf<"StartStandaloneRun">, at: string): Outcome =>
  outcome([standaloneRequested(request, at)], { _tag: "NextPhase" })

const detached = "HEAD is on no branch: git will lose the commits of this run unless you create a branch for them."

const unfinished = (base: string, head: string) =>
  `The branch has commits that no run has finished: ${base}..${head}. They are gated and reviewed with the first phase of this run.`

export const workspacePrepared = (event: InputOf<"WorkspacePrepared">): Outcome => {
  const { base, branch, directory, head, host } = event
  const place = { host, directory, head: base ?? head, ...defined({ branch }) }
  const notes = [...(branch === undefined ? [detached] : []), ...(base === undefined ? [] : [unfinished(base, head)])]
  const noted = notes.map((text): RunEvent => ({ _tag: "Noted", text }))
  return outcome([{ _tag: "WorkspaceTaken", ...place }, ...noted], { _tag: "NextPhase" })
}

export const workspaceRefused = (run: Run, event: InputOf<"WorkspaceRefused">): Outcome =>
  outcome(failRun(run, `The workspace cannot be used (${event.kind}): ${event.reason}`))
