/**
 * Answers that were chosen and can still be taken back: each is sent after five seconds, or at once when the page is
 * closed. What was typed is kept until the gate has taken it.
 */
import type { ConsoleAnswer, EscalationView } from "@reprise/protocol"
import { ApiFailure, newCommandId } from "../data/api.ts"
import { sendCommand } from "../data/queries.ts"

export const undoMs = 5_000

export interface Pending {
  readonly question: EscalationView
  readonly label: string
  readonly answer: ConsoleAnswer
  /** `Date.now()` at which it is sent. */
  readonly sendAt: number
  readonly state: "undoable" | "sending" | "sent" | "stored" | "failed"
  /** Why it failed, or what became of it. */
  readonly message?: string
}

/** Who is to take over, as it was typed; empty: the one that the run has. */
export interface ChosenAgent {
  readonly runtime: string
  readonly model: string
  readonly variant: string
}
export const nobodyElse: ChosenAgent = { runtime: "", model: "", variant: "" }

export const isNobodyElse = ({ model, runtime, variant }: ChosenAgent): boolean =>
  [runtime, model, variant].every((name) => name === "")

/** What was typed for a question. */
export interface Draft {
  readonly guidance: string
  readonly agent: ChosenAgent
}
const emptyDraft: Draft = { guidance: "", agent: nobodyElse }

type Listener = () => void

let pending: ReadonlyArray<Pending> = []
const listeners = new Set<Listener>()
const timers = new Map<string, ReturnType<typeof setTimeout>>()

const publish = (next: ReadonlyArray<Pending>) => {
  pending = next
  for (const listener of listeners) listener()
}

const change = (commandId: string, changes: Partial<Pending>) =>
  publish(pending.map((one) => (one.answer.commandId === commandId ? { ...one, ...changes } : one)))

const stopWaiting = (commandId: string) => {
  clearTimeout(timers.get(commandId))
  timers.delete(commandId)
}

const find = (commandId: string) => pending.find(({ answer }) => answer.commandId === commandId)

export const dismiss = (commandId: string) => publish(pending.filter(({ answer }) => answer.commandId !== commandId))

/** How long a success stays on the page. */
const shownMs = 4_000
const later = (commandId: string) => setTimeout(() => dismiss(commandId), shownMs)

const failureText = (error: unknown): string =>
  error instanceof ApiFailure ? error.message : "The answer could not be sent."

export const sendNow = async (commandId: string, isClosing = false): Promise<void> => {
  const one = find(commandId)
  if (one === undefined || one.state === "sending" || one.state === "sent") return
  stopWaiting(commandId)
  change(commandId, { state: "sending" })
  try {
    const path = `questions/${one.question.escalationId}/answer`
    const { state } = await sendCommand(path, one.answer, isClosing)
    saveDraft(one.question.escalationId, emptyDraft)
    change(commandId, { state: state === "done" ? "sent" : "stored" })
    later(commandId)
  } catch (error) {
    change(commandId, { state: "failed", message: failureText(error) })
  }
}

/** Takes the answer back; what was typed is in the question's draft. */
export const undo = (commandId: string): void => {
  if (find(commandId)?.state !== "undoable") return
  stopWaiting(commandId)
  dismiss(commandId)
}

/** Chooses an option. An answer to the same question that was not sent yet is replaced. */
export const choose = (question: EscalationView, choice: string, label: string, { agent, guidance }: Draft): void => {
  const earlier = pending.find(
    (one) => one.question.escalationId === question.escalationId && one.state !== "sending" && one.state !== "sent"
  )
  if (earlier !== undefined) {
    stopWaiting(earlier.answer.commandId)
    dismiss(earlier.answer.commandId)
  }
  const commandId = newCommandId()
  const { commit } = question.evidence
  const answer: ConsoleAnswer = {
    commandId,
    choice,
    ...(guidance.trim() === "" ? {} : { guidance }),
    ...(agent.runtime === "" ? {} : { runtime: agent.runtime }),
    ...(agent.model === "" ? {} : { model: agent.model }),
    ...(agent.variant === "" ? {} : { variant: agent.variant }),
    ...(commit === undefined ? {} : { commit })
  }
  publish([...pending, { question, label, answer, sendAt: Date.now() + undoMs, state: "undoable" }])
  timers.set(
    commandId,
    setTimeout(() => void sendNow(commandId), undoMs)
  )
}

export const subscribe = (listener: Listener) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}
export const pendingNow = () => pending

/** Whoever closes the page has answered; a telephone stops the timers of one that is put away. */
const sendAll = () => {
  for (const { answer, state } of pending) if (state === "undoable") void sendNow(answer.commandId, true)
}
addEventListener("pagehide", sendAll)
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") sendAll()
})

const draftKey = (id: string) => `draft ${id}`
const isEmpty = ({ agent, guidance }: Draft) => guidance === "" && isNobodyElse(agent)

/** What a reload and an undo must not lose. */
export const draftOf = (id: string): Draft => {
  const saved = sessionStorage.getItem(draftKey(id))
  if (saved === null) return emptyDraft
  const { agent, guidance }: Draft = JSON.parse(saved)
  // An earlier version of the page knew fewer names.
  return { guidance, agent: { ...nobodyElse, ...agent } }
}
export const saveDraft = (id: string, draft: Draft): void => {
  if (isEmpty(draft)) sessionStorage.removeItem(draftKey(id))
  else sessionStorage.setItem(draftKey(id), JSON.stringify(draft))
}
