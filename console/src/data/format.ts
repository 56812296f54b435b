/** Texts and numbers for people. Pure. */
import {
  type EscalationOrigin,
  type EscalationView,
  type RunView,
  type Step,
  type Tokens,
  uncachedTokens,
  type WithdrawalReason
} from "@reprise/protocol"

/** How long ago an ISO time is. */
export const ago = (iso: string, nowMs: number): string => {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(iso)) / 1000))
  return seconds < 60 ? "just now" : `${span(seconds * 1000)} ago`
}

/** A duration in one or two units. */
export const span = (ms: number): string => {
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

export const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? "" : "s"}`

export const short = (n: number): string => {
  if (n < 1000) return `${n}`
  return n < 1_000_000 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`
}

export const dollars = (cost: number): string => (cost > 0 && cost < 0.01 ? "< $0.01" : `$${cost.toFixed(2)}`)

/** What was used; what the vendor's cache served is told apart, because it costs a fraction. */
export const tokensText = (tokens: Tokens): string =>
  `${short(uncachedTokens(tokens))} tokens${tokens.cacheRead > 0 ? ` + ${short(tokens.cacheRead)} cached` : ""}`

const askedBy: Record<EscalationOrigin, string> = {
  author: "The author needs you",
  reviewer: "The reviewer needs you",
  quality: "Quality gates fail",
  commit: "The commit was rejected",
  limit: "A limit was reached",
  plan: "The plan needs you",
  runtime: "The agent's turn failed",
  checkpoint: "Checkpoint",
  continuation: "The saved state does not match",
  permission: "The agent asks for a permission",
  question: "The agent asks a question",
  "phase-gate": "Phase done: approve it",
  workspace: "The workspace needs you"
}
export const originText = (origin: EscalationOrigin): string => askedBy[origin]

const steps: Record<Step, string> = {
  PREPARE: "Prepare the workspace",
  EXECUTE: "Author works",
  QUALITY_CHECK: "Quality gates",
  QUALITY_RETRY: "Author fixes quality gates",
  REVIEW: "Review",
  AUTO_FIX: "Author fixes review findings",
  CHECKPOINT: "Checkpoint",
  ESCALATE: "Ask a human",
  PHASE_GATE: "Approve the phase",
  PHASE_COMPLETE: "Complete the phase"
}
export const stepText = (step: Step): string => steps[step]

const statuses: Record<RunView["status"], string> = {
  running: "Running",
  waiting: "Needs you",
  paused: "Paused",
  completed: "Completed",
  failed: "Failed",
  aborted: "Aborted"
}
export const statusText = ({ hosted, status }: Pick<RunView, "status" | "hosted">): string =>
  status === "running" && hosted === false ? "Not hosted" : statuses[status]

const withdrawals: Record<WithdrawalReason, string> = {
  "agent-working": "the agent is working again",
  superseded: "a newer question replaces it",
  "run-ended": "the run has ended"
}

/** How a question was closed, and by whom; undefined: it is open. */
export const closingText = (question: EscalationView, nowMs: number): string | undefined => {
  const { by = "somebody", choice, closedAt, overruledFor, state, via, withdrawnFor } = question
  const when = closedAt === undefined ? "" : `, ${ago(closedAt, nowMs)}`
  if (state === "withdrawn") {
    return `This question is closed: ${withdrawnFor === undefined ? "it was withdrawn" : withdrawals[withdrawnFor]}${when}.`
  }
  if (state !== "answered") return undefined
  const late = overruledFor === undefined ? "" : ` The run continued without it: ${withdrawals[overruledFor]}.`
  return `Answered: ${by} chose “${choice ?? ""}”${via === undefined ? "" : ` through ${via}`}${when}.${late}`
}

/** Where a question stands: the plan, its phase and step. */
export const placeText = ({ evidence, phase, step }: EscalationView): string =>
  [
    evidence.planTitle ?? evidence.planPath,
    phase === undefined
      ? undefined
      : `phase ${phase}${evidence.phaseTitle === undefined ? "" : ` ${evidence.phaseTitle}`}`,
    step === undefined ? undefined : stepText(step),
    evidence.attempt === undefined || evidence.attempt < 2 ? undefined : `attempt ${evidence.attempt}`
  ]
    .filter((part) => part !== undefined)
    .join(" · ")

/** `continue session (resume the interrupted agent)`: the choice, and what it means. */
export const partsOf = (label: string): { readonly name: string; readonly meaning: string | undefined } => {
  const at = label.endsWith(")") ? label.indexOf("(") : -1
  return at === -1
    ? { name: label, meaning: undefined }
    : { name: label.slice(0, at).trimEnd(), meaning: label.slice(at + 1, -1) }
}

/** The beginning of an untrusted text, in one line. */
export const shortened = (text: string, most: number): string => {
  const line = text
    .slice(0, 4 * most)
    .replace(/\s+/g, " ")
    .trim()
  return line.length <= most ? line : `${line.slice(0, most).trimEnd()}…`
}

/** The name of a page in the browser's tab. */
export const titleText = (page: string, open = 0): string => `${open === 0 ? "" : `(${open}) `}${page} · Reprise`
