import { type CompletedTask, PhaseId, RunId, type WorkspaceCommand } from "@reprise/protocol"

export const runId = RunId.make("r1")
export const phase = PhaseId.make("1")

type Of<Tag extends WorkspaceCommand["_tag"]> = Extract<WorkspaceCommand, { readonly _tag: Tag }>

export const verify = (commit: string, base: string, reviewPath?: string): Of<"VerifyCommit"> => ({
  _tag: "VerifyCommit",
  runId,
  phase,
  commit,
  base,
  ...(reviewPath === undefined ? {} : { reviewPath })
})

export const claims = (
  base: string,
  tasks: ReadonlyArray<CompletedTask>,
  more: Partial<Of<"VerifyClaims">> = {}
): Of<"VerifyClaims"> => ({ _tag: "VerifyClaims", runId, phase, base, tasks, earlier: [], ...more })

export const finish = (reviewPath = "docs/reviews/plan-phase-1-review.md", approved?: string): Of<"FinishPhase"> => ({
  _tag: "FinishPhase",
  runId,
  phase,
  reviewPath,
  planPath: "PLAN.md",
  ...(approved === undefined ? {} : { approved })
})

export const gates = (commands: ReadonlyArray<string>, timeoutMs = 60_000): Of<"RunQualityGates"> => ({
  _tag: "RunQualityGates",
  runId,
  phase,
  attempt: 1,
  commands,
  timeoutMs
})

export const verifyTasks = (completedTasks: ReadonlyArray<CompletedTask>): Of<"VerifyContinuation"> => ({
  _tag: "VerifyContinuation",
  runId,
  phase,
  completedTasks
})

export const prepareIn = (workspace: string, more: Partial<Of<"PrepareWorkspace">> = {}): Of<"PrepareWorkspace"> => ({
  _tag: "PrepareWorkspace",
  runId,
  planPath: "PLAN.md",
  workspace,
  worktree: false,
  allowDirty: false,
  postCreate: [],
  host: "any" as Of<"PrepareWorkspace">["host"],
  ...more
})
