/** Reads the state of a turn from the entries of a transcript. Pure. */
import type { Tokens } from "@reprise/protocol"
import type { Inspection, LastMessage, StopReason, TurnOutcome } from "../../AgentRuntimeShape.ts"
import { type Entry, isConversation, tokensIn } from "./transcript.ts"

/**
 * `absent`: Claude never got the prompt. `open`: Claude has it but has not answered; sent again with the same uuid it is
 * answered. `unfinished`: cut off later; Claude would treat the same uuid as done (measured). `interrupted`: somebody
 * stopped it. `failed`: the model's vendor failed.
 */
export type Turn =
  | { readonly _tag: "absent" }
  | { readonly _tag: "open" }
  | { readonly _tag: "unfinished"; readonly outcome: TurnOutcome }
  | { readonly _tag: "interrupted"; readonly outcome: TurnOutcome }
  | { readonly _tag: "failed"; readonly error: Extract<Entry, { kind: "error" }>; readonly outcome: TurnOutcome }
  | { readonly _tag: "finished"; readonly outcome: TurnOutcome }

interface Owned {
  readonly entries: ReadonlyArray<Entry>
  readonly cost: number
  /** From the first of the prompts until somebody else's next prompt. */
  readonly fromMs: number
  readonly untilMs: number
}

/** Everything that follows one of the prompts, up to somebody else's next prompt. */
export const ownedBy = (entries: ReadonlyArray<Entry>, uuids: ReadonlySet<string>): Owned => {
  const owned: Array<Entry> = []
  let [cost, total, fromMs, untilMs] = [0, 0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  let isOurs = false
  for (const entry of entries) {
    if (entry.kind === "prompt") {
      isOurs = uuids.has(entry.uuid)
      if (isOurs) [fromMs, untilMs] = [Math.min(fromMs, entry.atMs), Number.POSITIVE_INFINITY]
      else if (owned.length > 0 && untilMs === Number.POSITIVE_INFINITY) untilMs = entry.atMs
    }
    if (entry.kind === "cost") {
      // A killed process wrote no total, and the next one started from an older total.
      if (isOurs) cost += Math.max(0, entry.total - total)
      total = entry.total
    }
    if (isOurs) owned.push(entry)
  }
  return { entries: owned, cost, fromMs, untilMs }
}

const endsTurn = (stopReason: string | undefined): boolean =>
  stopReason !== undefined && stopReason !== "tool_use" && stopReason !== "pause_turn"

const stopReasonOf = (stopReason: string | undefined): StopReason => {
  if (stopReason === "end_turn" || stopReason === "stop_sequence") return "finished"
  if (stopReason === "max_tokens" || stopReason === "model_context_window_exceeded") return "output-limit"
  return "other"
}

type Answer = Extract<Entry, { kind: "answer" }>

const answersIn = (entries: ReadonlyArray<Entry>): ReadonlyArray<Answer> =>
  entries.flatMap((entry) => (entry.kind === "answer" ? [entry] : []))

const totalOf = ({ cacheRead, cacheWrite, input, output, reasoning }: Tokens): number =>
  input + output + reasoning + cacheRead + cacheWrite

const outcomeOf = ({ cost, entries }: Owned): TurnOutcome => {
  const answers = answersIn(entries)
  const last = answers.at(-1)
  return {
    text: answers.flatMap((answer) => (answer.messageId === last?.messageId ? [answer.text] : [])).join(""),
    stopReason: stopReasonOf(last?.stopReason),
    tokens: tokensIn(entries),
    cost,
    ...(last === undefined ? {} : { context: { tokens: totalOf(tokensIn([last])) } }),
    ...(last?.model === undefined ? {} : { model: last.model }),
    ...(last?.stopReason === undefined ? {} : { finish: last.stopReason }),
    toolCalls: answers.reduce((sum, answer) => sum + answer.toolCalls, 0)
  }
}

/** The turn of a prompt and its continuations. Whether a process runs is not known here. */
export const turnOf = (entries: ReadonlyArray<Entry>, uuids: ReadonlyArray<string>): Turn => {
  const owned = ownedBy(entries, new Set(uuids))
  const last = owned.entries.findLast(isConversation)
  if (last === undefined) return { _tag: "absent" }
  if (last.kind === "prompt") return { _tag: "open" }
  const outcome = outcomeOf(owned)
  if (last.kind === "interrupted") return { _tag: "interrupted", outcome }
  if (last.kind === "error") return { _tag: "failed", error: last, outcome }
  return { _tag: last.kind === "answer" && endsTurn(last.stopReason) ? "finished" : "unfinished", outcome }
}

/** Whether the newest turn has ended, whoever prompted it. */
export const isAtRest = (entries: ReadonlyArray<Entry>): boolean => {
  const last = entries.findLast(isConversation)
  if (last === undefined || last.kind === "interrupted" || last.kind === "error") return true
  return last.kind === "answer" && endsTurn(last.stopReason)
}

export const messageCountOf = (entries: ReadonlyArray<Entry>): number =>
  entries.filter((entry) => entry.kind === "prompt").length +
  new Set(answersIn(entries).map((answer) => answer.messageId)).size

/** The uuid of the newest prompt. */
export const newestPrompt = (entries: ReadonlyArray<Entry>): string | undefined =>
  entries.flatMap((entry) => (entry.kind === "prompt" ? [entry.uuid] : [])).at(-1)

/** The model of the newest answer. */
export const modelOfLast = (entries: ReadonlyArray<Entry>): Pick<Inspection, "model"> => {
  const model = answersIn(entries).at(-1)?.model
  return model === undefined ? {} : { model }
}

/** @param nameOf gives the prompt's own id for our uuid, and the uuid itself for a prompt of somebody else */
export const lastMessageOf = (
  entries: ReadonlyArray<Entry>,
  nameOf: (uuid: string) => string
): Pick<Inspection, "lastMessage"> => {
  const last = entries.findLast((entry) => entry.kind === "prompt" || entry.kind === "answer")
  if (last === undefined || (last.kind !== "prompt" && last.kind !== "answer")) return {}
  const { atMs } = last
  if (last.kind === "prompt") return { lastMessage: { id: nameOf(last.uuid), role: "user", finished: true, atMs } }
  const cause = newestPrompt(entries)
  const lastMessage: LastMessage = {
    id: last.messageId,
    role: "assistant",
    finished: endsTurn(last.stopReason),
    atMs,
    ...(cause === undefined ? {} : { causePromptId: nameOf(cause) })
  }
  return { lastMessage }
}
