/** One public event as one line for people. Untrusted text is marked, so that it never looks like a line of Reprise. Pure. */
import {
  agentText,
  minuteText,
  type PublicEvent,
  type SessionDecision,
  stepAgentText,
  uncachedTokens,
  type WithdrawalReason
} from "@reprise/protocol"
import { quotedRest, visibleLine } from "../terminal/visible.ts"
import { stepWords } from "./stepText.ts"

type EventOf<Tag extends PublicEvent["_tag"]> = Extract<PublicEvent, { readonly _tag: Tag }>

/** `live`: shown as progress; the other lines appear only in `reprise logs`. */
interface Line {
  readonly text: string
  readonly live: boolean
}

const live = (text: string): Line => ({ text, live: true })
const quiet = (text: string): Line => ({ text, live: false })

const seconds = (ms: number): string => (ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`)
const short = (commit: string): string => commit.slice(0, 10)
const thousands = (n: number): string => (n < 1000 ? `${n}` : `${(n / 1000).toFixed(1)}k`)
const counted = (n: number, word: string): string => `${n} ${word}${n === 1 ? "" : "s"}`
const attempt = (n: number): string => (n > 1 ? ` (attempt ${n})` : "")
const capital = (word: string): string => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`

const toldNotCopied = ({ forkTold }: EventOf<"SessionCreated">): string =>
  forkTold === undefined
    ? ""
    : `. Its first prompt describes the conversation, which could not be copied: ${quotedRest(forkTold)}`

/** Names the choice between the same session and a new one. Without a known context there was nothing to choose. */
const sessionChoice = (session: SessionDecision | undefined): string => {
  if (session === undefined || session.contextTokens === undefined) return ""
  const fill = session.contextFill === undefined ? "" : `, context ${Math.round(session.contextFill * 100)} % full`
  return session.choice === "fresh" ? `, in a new session: ${session.why}` : `, same session${fill}`
}

const stepStarted = (event: EventOf<"StepStarted">): string => {
  const phase = event.phase === undefined ? "the plan" : `phase ${event.phase}`
  const who = event.agent === undefined ? "" : `; ${visibleLine(stepAgentText(event.agent))}`
  return `  ${stepWords(event.step, phase)}${attempt(event.attempt)}${sessionChoice(event.session)}${who}`
}

const resumeWords: Record<EventOf<"StepResumed">["cause"], string> = {
  answer: "Continuing with your answer",
  "agent-working": "The agent is working again; continuing",
  timer: "Continuing after a wait"
}

const triggerWords: Record<EventOf<"ActionTaken">["trigger"], string> = {
  idle: "the agent stopped without its report",
  gone: "the agent's runtime did not come back",
  prompt: "the agent asked",
  error: "the agent's model failed"
}

const actionTaken = ({ about, action, attempt: n, trigger }: EventOf<"ActionTaken">): string =>
  `    Automatic action: ${action}${attempt(n)}, because ${triggerWords[trigger]}${about === undefined ? "" : ` (${quotedRest(about)})`}`

const withdrawalWords: Record<WithdrawalReason, string> = {
  "agent-working": "the agent is working again",
  superseded: "a newer question replaces it",
  "run-ended": "the run has ended"
}

/** What became of an answer that the run had not waited for. */
export const overruledText = ({
  by,
  choice,
  guidance,
  reason
}: Pick<EventOf<"EscalationOverruled">, "by" | "choice" | "guidance" | "reason">): string => {
  const isForAgent = guidance !== undefined && reason !== "run-ended" && choice !== "abort" && choice !== "override"
  const kept = isForAgent ? " Its guidance is in the next prompt." : ""
  return `The answer '${choice}' by ${by} came too late: ${withdrawalWords[reason]}.${kept}`
}

/** Why a question was closed without an answer. */
export const withdrawalText = (reason: WithdrawalReason): string => withdrawalWords[reason]

/** Why the work does not go on, when a model's vendor fails. */
export const vendorWords = (kind: EventOf<"AgentFailed">["kind"]): string => {
  switch (kind) {
    case "rate_limited":
      return "Rate limited"
    case "out_of_credits":
      return "Out of credit"
    case "no_internet":
      return "The model cannot be reached"
    case "unauthorized":
      return "The model's vendor refuses the key"
    case "other":
      return "The model's vendor failed"
  }
}

const agentFailed = ({ kind, message, until }: EventOf<"AgentFailed">): string => {
  const again = until === undefined ? "" : `, and is asked again at ${minuteText(until)}`
  return `    The agent's model failed (${kind})${again}: ${quotedRest(message)}`
}

const agentWorking = ({ cause }: EventOf<"AgentWorking">): Line => {
  switch (cause) {
    case "human":
      return live("    You stepped in through the agent's own interface")
    case "agent":
      return live("    The agent is working again")
    case "turn":
      return quiet("    The agent is working")
  }
}

const turnCompleted = (event: EventOf<"TurnCompleted">): string => {
  const result = event.status?.result ?? event.verdict?.readiness ?? "done"
  const attempts = event.attempts > 1 ? `, ${event.attempts} attempts` : ""
  return `    ${result} in ${seconds(event.duration)}, ${thousands(event.tokens.input + event.tokens.output)} tokens${attempts}`
}

const turnFailed = ({ kind, message }: EventOf<"TurnFailed">): string =>
  `    Turn failed (${kind}): ${quotedRest(message)}`

const failedGates = ({ results }: EventOf<"QualityFailed">): string =>
  results
    .filter(({ exitCode }) => exitCode !== 0)
    .map(
      ({ command, exitCode, logRef, timedOut }) =>
        `    Failed: ${quotedRest(command)} (${timedOut ? "timed out" : `exit ${exitCode}`}), log ${logRef}`
    )
    .join("\n")

const verdict = ({ verdict: { items, readiness } }: EventOf<"VerdictReached">): string =>
  [
    `    Verdict: ${readiness}`,
    ...items.map(
      ({ action, id, priority, title }) => `      ${priority} ${visibleLine(id)} ${quotedRest(title)} (${action})`
    )
  ].join("\n")

const inItsSession = ({ author }: EventOf<"RunMoved">): string =>
  author === undefined ? "" : " and in its author's session"

const phaseCompleted = ({ by, commit, phase }: EventOf<"PhaseCompleted">): string =>
  `Phase ${phase} done (approved by ${by})${commit === undefined ? "" : ` at ${short(commit)}`}`

const stateWritten = ({ path, replaced }: EventOf<"ContinuationStateWritten">): Line =>
  replaced === undefined
    ? quiet(`    Continuation state written to ${path}`)
    : live(
        `    ${path} was invalid (${replaced.code}: ${quotedRest(replaced.detail)}) and was written again from the journal`
      )

const phaseBlocked = ({ dirty, head }: EventOf<"PhaseBlocked">): string =>
  head === undefined
    ? `    The working tree is not clean: ${dirty.map(visibleLine).join(", ")}`
    : `    HEAD moved during the review, to ${head}`

const refusedBy = ({ rule, sandbox, unattended }: EventOf<"PermissionRefused">): string => {
  if (sandbox !== undefined) return ", by the sandbox"
  if (rule !== undefined) return `, by the rule '${visibleLine(rule)}'`
  return unattended ? ", without asking a human" : ""
}

const eventText = (event: PublicEvent): Line => {
  switch (event._tag) {
    case "RunStarted":
      return live(`Run ${event.runId} of ${visibleLine(event.planPath)}: ${counted(event.phases.length, "phase")}`)
    case "PhaseStarted":
      return live(`Phase ${event.phase}: ${visibleLine(event.title)}`)
    case "StepStarted":
      return live(stepStarted(event))
    case "StepWaiting":
      return quiet(`  Waiting for an answer to ${event.escalationId}`)
    case "StepResumed":
      return live(`  ${resumeWords[event.cause]}`)
    case "PhaseCompleted":
      return live(phaseCompleted(event))
    case "AuthorChanged":
      return live(`  The author of phase ${event.phase} is ${visibleLine(agentText(event))} from now on`)
    case "ModelChanged":
      return live(`  The ${event.role}'s next turn has model ${visibleLine(event.model)}`)
    case "RunMoved":
      return live(
        event.cause === "drained"
          ? `Host ${event.from} is drained: the run moves elsewhere`
          : `Host ${event.from} is gone: the run moves elsewhere, from its last push${inItsSession(event)}`
      )
    case "RunPaused":
      return live("Run paused")
    case "RunResumed":
      return quiet("Run resumed")
    case "RunCompleted":
      return live("Run completed")
    case "RunFailed":
      return live(`Run failed: ${quotedRest(event.reason)}`)
    case "RunAborted":
      return live(`Run aborted: ${quotedRest(event.reason)}`)
    case "CheckpointReached":
      return live(`    Checkpoint at task ${visibleLine(event.task)} (${event.type})`)
    case "CheckpointResolved":
      return live(`    Checkpoint resolved: ${quotedRest(event.resolution)}`)
    case "SessionCreated":
      return live(`    ${capital(event.role)} starts session ${event.sessionId}${toldNotCopied(event)}`)
    case "SessionReused":
      return live(`    ${capital(event.role ?? "agent")} continues session ${event.sessionId}`)
    case "SessionReplaced":
      return live(`    Session replaced: ${quotedRest(event.reason)}`)
    case "SessionPaused":
      return quiet(`    Session ${event.sessionId} paused`)
    case "SessionExpired":
      return quiet(`    Session ${event.sessionId} expired`)
    case "SessionCompleted":
      return quiet(`    Session ${event.sessionId} completed`)
    case "SessionAborted":
      return live(`    Session ${event.sessionId} aborted: ${quotedRest(event.reason)}`)
    case "SessionFailed":
      return live(`    Session ${event.sessionId} failed: ${quotedRest(event.reason)}`)
    case "SessionArchived":
      return quiet(`    Session ${event.sessionId} archived`)
    case "UsageCounted":
      return quiet(
        `    ${uncachedTokens(event.tokens)} tokens were used in session ${event.sessionId} outside of Reprise's turns`
      )
    case "PermissionRefused":
      return live(`    The ${event.role} was refused${refusedBy(event)}: ${quotedRest(event.text)}`)
    case "ActionTaken":
      return live(actionTaken(event))
    case "AgentWorking":
      return agentWorking(event)
    case "AgentIdle":
      return quiet("    The agent is idle")
    case "AgentPrompting":
      return live(`    The agent asks: ${quotedRest(event.text)}`)
    case "AgentFailed":
      return live(agentFailed(event))
    case "TurnRetried":
      return live("    Retrying now, on request")
    case "AgentGone":
      return live("    The agent's runtime has gone")
    case "TurnStarted":
      return quiet(`    Turn ${event.turnId} in session ${event.sessionId}`)
    case "TurnProgress":
      return event.tool === undefined
        ? quiet(`    … ${event.tokens.input + event.tokens.output} tokens`)
        : live(`    … ${visibleLine(event.tool)}`)
    case "TurnCompleted":
      return live(turnCompleted(event))
    case "TurnFailed":
      return live(turnFailed(event))
    case "ReviewStarted":
      return live(
        `    Review ${event.cycle} of ${short(event.commit)} in ${event.sessionReused ? "the same session" : "a new session"}`
      )
    case "VerdictReached":
      return live(verdict(event))
    case "ReviewFailed":
      return live(`    Review ${event.sessionKept === true ? "interrupted" : "failed"}: ${quotedRest(event.reason)}`)
    case "EscalationRaised":
      return live(`  Waiting for you (${event.origin}): ${quotedRest(event.reason)}`)
    case "EscalationAnswered":
      return live(`  Answered: ${event.choice} by ${event.by} via ${event.via}`)
    case "EscalationWithdrawn":
      return live(`  Question closed: ${withdrawalWords[event.reason]}`)
    case "EscalationOverruled":
      return live(`  ${overruledText(event)}`)
    case "EscalationReminded":
      return quiet(`  ${event.escalationId} still waits for an answer (reminder ${event.count})`)
    case "WorkspacePrepared":
      return quiet(`    Workspace ${event.directory} at ${short(event.head)}`)
    case "WorkspaceRefused":
      return live(`  Workspace refused: ${quotedRest(event.reason)}`)
    case "QualityPassed":
      return live(`    ${event.results.length} passed`)
    case "QualityFailed":
      return live(failedGates(event))
    case "CommitVerified":
      return live(`    Commit ${short(event.commit)} verified`)
    case "CommitRejected":
      return live(`    Commit ${short(event.commit)} rejected (${event.reason}): ${quotedRest(event.detail)}`)
    case "ClaimsVerified":
      return quiet(`    The author's claims hold (${event.tasks.length} tasks)`)
    case "ClaimsRejected":
      return live(`    Commit ${short(event.commit)} rejected (${event.reason}): ${quotedRest(event.detail)}`)
    case "PhaseFinished":
      return quiet(`    The working tree is clean at ${short(event.head)}`)
    case "PhaseBlocked":
      return live(phaseBlocked(event))
    case "ContinuationVerified":
      return quiet("    The continuation state matches the repository")
    case "ContinuationRejected":
      return live(
        `    The continuation state does not match the repository: ${[...event.missingCommits, ...event.missingFiles].map(visibleLine).join(", ")}`
      )
    case "ContinuationStateWritten":
      return stateWritten(event)
    case "SummaryWritten":
      return quiet(`    Summary written to ${event.path}`)
    case "WorkspaceReleased":
      return quiet("  Workspace released")
    case "WorkspaceFailed":
      return live(`  Workspace: ${event.operation} failed: ${quotedRest(event.reason)}`)
    case "CommandRefused":
      return live(`  ${event.command} refused: ${quotedRest(event.reason)}`)
  }
}

/** The line for live progress; undefined if the event says nothing new. */
export const eventLine = (event: PublicEvent): string | undefined => {
  const { live: isLive, text } = eventText(event)
  return isLive ? text : undefined
}

/** The line for `reprise logs`, which has one for every event. */
export const logLine = (event: PublicEvent): string => eventText(event).text
