/** One public event as one line for people, or none when it says nothing new. Pure; agent text is made safe by the caller. */
import type { PublicEvent, SessionDecision } from "@reprise/protocol"

const seconds = (ms: number): string => (ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`)
const short = (commit: string | undefined): string => (commit === undefined ? "" : commit.slice(0, 10))
const thousands = (n: number): string => (n < 1000 ? `${n}` : `${(n / 1000).toFixed(1)}k`)

const stepWords: Record<string, string> = {
  PREPARE: "prepare the workspace",
  EXECUTE: "execute",
  QUALITY_CHECK: "quality gates",
  QUALITY_RETRY: "fix the quality gates",
  REVIEW: "review",
  AUTO_FIX: "fix the findings",
  CHECKPOINT: "checkpoint",
  ESCALATE: "ask a human",
  PHASE_GATE: "phase gate",
  PHASE_COMPLETE: "complete the phase"
}

/** Continue or fresh is worth words where it is not what one expects: a session that was left, or its context that fills. */
const chosen = (session: SessionDecision | undefined): string => {
  if (session === undefined || session.contextTokens === undefined) return ""
  const fill = session.contextFill === undefined ? "" : `, context ${Math.round(session.contextFill * 100)} % full`
  return session.choice === "fresh" ? ` in a fresh session: ${session.why}` : ` in the same session${fill}`
}

const actionWords: Record<Extract<PublicEvent, { _tag: "ActionTaken" }>["trigger"], string> = {
  idle: "the agent stopped without its report",
  gone: "the agent's runtime did not come back",
  prompt: "the agent asked",
  error: "the agent's model failed"
}

export const eventLine = (event: PublicEvent): string | undefined => {
  switch (event._tag) {
    case "RunStarted":
      return `run ${event.runId} of ${event.planPath}: ${event.phases.length} phase${event.phases.length === 1 ? "" : "s"}`
    case "PhaseStarted":
      return `phase ${event.phase}: ${event.title}`
    case "StepStarted":
      return `  ${stepWords[event.step] ?? event.step}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}${chosen(event.session)}`
    case "StepResumed":
      return `  goes on (${event.cause})`
    case "SessionCreated":
      return `    new ${event.role} session ${event.sessionId} (${event.runtimeSessionId})`
    case "SessionReused":
      return `    same ${event.role ?? "agent"} session ${event.sessionId} (${event.reason})`
    case "SessionReplaced":
      return `    session replaced: ${event.reason}`
    case "SessionAborted":
      return `    session ${event.sessionId} aborted: ${event.reason}`
    case "SessionFailed":
      return `    session ${event.sessionId} failed: ${event.reason}`
    case "ActionTaken":
      return `    ${event.action}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}: ${actionWords[event.trigger]}${
        event.about === undefined ? "" : ` (${event.about})`
      }`
    case "TurnProgress":
      return event.tool === undefined ? undefined : `    … ${event.tool}`
    case "TurnCompleted":
      return `    ${event.status?.result ?? event.verdict?.readiness ?? "done"} in ${seconds(event.duration)}, ${thousands(
        event.tokens.input + event.tokens.output
      )} tokens${event.attempts > 1 ? `, ${event.attempts} attempts` : ""}`
    case "TurnFailed":
      return `    turn failed (${event.kind}): ${event.message}`
    case "AgentWorking":
      return event.cause === "turn" ? undefined : `    the agent is seen working (${event.cause})`
    case "AgentPrompting":
      return `    the agent asks: ${event.text}`
    case "AgentFailed":
      return `    the agent's model fails (${event.kind}): ${event.message}`
    case "AgentGone":
      return "    the agent runtime is gone"
    case "QualityPassed":
      return `    ${event.results.length} passed`
    case "QualityFailed":
      return event.results
        .filter((result) => result.exitCode !== 0)
        .map(
          (result) =>
            `    failed: ${result.command}${result.timedOut ? " (timed out)" : ` (exit ${result.exitCode})`}, log ${result.logRef}`
        )
        .join("\n")
    case "CommitVerified":
      return `    commit ${short(event.commit)} verified`
    case "CommitRejected":
      return `    commit ${short(event.commit)} rejected (${event.reason}): ${event.detail}`
    case "ReviewStarted":
      return `    review ${event.cycle} of ${short(event.commit)} in ${event.sessionReused ? "the same session" : "a new session"}`
    case "VerdictReached":
      return [
        `    verdict: ${event.verdict.readiness}`,
        ...event.verdict.items.map((item) => `      ${item.priority} ${item.id} ${item.title} (${item.action})`)
      ].join("\n")
    case "ReviewFailed":
      return `    review failed: ${event.reason}`
    case "PhaseCompleted":
      return `phase ${event.phase} completed by ${event.by}${event.commit === undefined ? "" : ` at ${short(event.commit)}`}`
    case "CheckpointReached":
      return `    checkpoint ${event.task} (${event.type})`
    case "CheckpointResolved":
      return `    checkpoint resolved: ${event.resolution}`
    case "ContinuationStateWritten":
      return event.replaced === undefined
        ? undefined
        : `    ${event.path} was refused (${event.replaced.code}: ${event.replaced.detail}) and written again from the journal`
    case "ContinuationRejected":
      return `    the record does not match the repository: ${[...event.missingCommits, ...event.missingFiles].join(", ")}`
    case "EscalationRaised":
      return `  needs a human (${event.origin}): ${event.reason}`
    case "EscalationAnswered":
      return `  answered: ${event.choice} by ${event.by} via ${event.via}`
    case "EscalationWithdrawn":
      return `  question withdrawn (${event.reason})`
    case "WorkspaceRefused":
      return `  workspace refused: ${event.reason}`
    case "WorkspaceFailed":
      return `  workspace: ${event.operation} failed: ${event.reason}`
    case "PhaseBlocked":
      return event.head === undefined
        ? `    the tree is not clean: ${event.dirty.join(", ")}`
        : `    HEAD moved during the review, to ${event.head}`
    case "CommandRefused":
      return `  ${event.command} refused: ${event.reason}`
    case "RunPaused":
      return "run paused"
    case "RunCompleted":
      return "run completed"
    case "RunFailed":
      return `run failed: ${event.reason}`
    case "RunAborted":
      return `run aborted: ${event.reason}`
    default:
      return undefined
  }
}
