/** How the gate's screen changes with what the human types and with what happens meanwhile. Pure. */
import type { EscalationView, LiveMessage } from "@reprise/protocol"
import { draftOf } from "./Draft.ts"
import {
  currentQuestion,
  evidenceKey,
  filtered,
  type GateInput,
  type GateModel,
  type GateRequest,
  type Mode,
  type Notice,
  writtenNow
} from "./GateModel.ts"
import type { Arrived, Key } from "./keys.ts"
import { show } from "./navigation.ts"
import { pasted, pressed } from "./pressed.ts"

export interface Updated {
  readonly model: GateModel
  readonly requests: ReadonlyArray<GateRequest>
}

const quietly = (model: GateModel): Updated => ({ model, requests: [] })

const noticed = (model: GateModel, text: string, tone: Notice["tone"]): GateModel => ({
  ...model,
  notice: { text, tone }
})

const opened = (model: GateModel, question: EscalationView): Updated => {
  const { current, questions } = model
  const isKnown = questions.some(({ escalationId }) => escalationId === question.escalationId)
  const all = isKnown
    ? questions.map((one) => (one.escalationId === question.escalationId ? question : one))
    : [...questions, question].sort((a, b) => a.raisedAt.localeCompare(b.raisedAt))
  const added = { ...model, questions: all }
  const read: GateRequest = { _tag: "ReadSession", question }
  if (current !== undefined) return { model: added, requests: [read] }
  const shown = show(added, question.escalationId)
  return { model: shown.model, requests: [read, ...shown.requests] }
}

/** The question that takes the place of one that was closed. */
const following = (model: GateModel, escalationId: string): string | undefined => {
  const shown = filtered(model)
  const place = shown.findIndex((question) => question.escalationId === escalationId)
  return (shown[place + 1] ?? shown[place - 1])?.escalationId
}

const without = <A>(record: Readonly<Record<string, A>>, escalationId: string): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key.split(" ")[0] !== escalationId))

/** The question leaves the screen; an editor that is open keeps the terminal. */
const removed = (model: GateModel, escalationId: string): Updated => {
  const next = following(model, escalationId)
  const { drafts, evidence, sessions } = model
  const rest = {
    ...model,
    questions: model.questions.filter((question) => question.escalationId !== escalationId),
    drafts: without(drafts, escalationId),
    evidence: without(evidence, escalationId),
    sessions: without(sessions, escalationId)
  }
  if (model.current !== escalationId) return quietly(rest)
  if (model.mode._tag === "Editing") return quietly({ ...rest, current: undefined })
  return show({ ...rest, mode: { _tag: "Reading" } }, next)
}

const closed = (model: GateModel, escalationId: string, how: string): Updated => {
  const isCurrent = model.current === escalationId
  // The answer to what is being sent tells who was first.
  if (isCurrent && model.mode._tag === "Sending") return quietly(model)
  if (model.questions.every((question) => question.escalationId !== escalationId)) return quietly(model)
  const words = isCurrent ? writtenNow(model) : (model.drafts[escalationId] ?? "")
  const isEditing = isCurrent && model.mode._tag === "Editing"
  const keeps = words.trim() !== "" && !isEditing
  const gone = removed(model, escalationId)
  return {
    model: noticed(
      gone.model,
      `${escalationId} ${how}${keeps ? " What you wrote was not sent; you get it back when you leave." : ""}`,
      "bad"
    ),
    requests: keeps ? [{ _tag: "Keep", escalationId, text: words }, ...gone.requests] : gone.requests
  }
}

const edited = (model: GateModel, escalationId: string, text: string | undefined): Updated => {
  const { mode } = model
  if (mode._tag !== "Editing") return quietly(model)
  if (model.current === escalationId) {
    const { draft, option } = mode
    const back = {
      ...model,
      mode: { _tag: "Writing", option, draft: text === undefined ? draft : draftOf(text) } as const
    }
    return quietly(
      text === undefined ? noticed(back, "The editor failed; set EDITOR to use another one.", "bad") : back
    )
  }
  // Somebody else has closed the question meanwhile.
  const words = text ?? mode.draft.text
  const shown = show({ ...model, mode: { _tag: "Reading" } }, filtered(model)[0]?.escalationId)
  return words.trim() === ""
    ? { ...shown, model: { ...shown.model, notice: model.notice } }
    : {
        model: noticed(
          shown.model,
          `${model.notice?.text ?? ""} What you wrote was not sent; you get it back when you leave.`,
          "bad"
        ),
        requests: [{ _tag: "Keep", escalationId, text: words }, ...shown.requests]
      }
}

const refused = (model: GateModel, escalationId: string, message: string): Updated => {
  if (model.current !== escalationId || model.mode._tag !== "Sending") return quietly(noticed(model, message, "bad"))
  const { words } = model.mode
  const drafts = words.trim() === "" ? model.drafts : { ...model.drafts, [escalationId]: words.trim() }
  return quietly(noticed({ ...model, drafts, mode: { _tag: "Reading" } }, message, "bad"))
}

const notForked = (
  model: GateModel,
  { escalationId, message, words }: Extract<GateInput, { _tag: "NotForked" }>
): GateModel => {
  const written = model.drafts[escalationId] ?? ""
  const drafts = written === "" && words !== "" ? { ...model.drafts, [escalationId]: words } : model.drafts
  return noticed({ ...model, drafts }, message, "bad")
}

/** What is kept of the words of a run's agents. */
const keptLive = 16_000

const heardText = (message: LiveMessage): string => {
  switch (message._tag) {
    case "AgentSaid":
      return message.omitted === undefined ? message.text : `\n… ${message.omitted} characters …\n${message.text}`
    case "ToolStarted":
      return `\n… ${message.tool}${message.argument === undefined ? "" : ` ${message.argument}`}\n`
    default:
      return ""
  }
}

const heard = (model: GateModel, message: LiveMessage): GateModel => {
  const { runId } = message
  const text = `${model.live[runId] ?? ""}${heardText(message)}`.slice(-keptLive)
  return { ...model, live: { ...model.live, [runId]: text } }
}

const ticked = (before: GateModel, nowMs: number): Updated => {
  const model = { ...before, nowMs }
  const { mode } = model
  const question = currentQuestion(model)
  if (mode._tag !== "Undoable" || mode.untilMs > nowMs || question === undefined) return quietly(model)
  const { answer } = mode
  const sending: Mode = { _tag: "Sending", answer, words: answer.guidance ?? "" }
  return { model: { ...model, mode: sending }, requests: [{ _tag: "Send", question, answer }] }
}

const leaves = (key: Key): boolean => key._tag === "Named" && (key.name === "interrupt" || key.name === "endOfInput")

/** What was typed at another question is not meant for this one. */
const meant = ({ seen, what }: Extract<GateInput, { _tag: "Arrived" }>, current: string | undefined): Arrived =>
  seen === current ? what : { _tag: "Keys", keys: what._tag === "Keys" ? what.keys.filter(leaves) : [] }

const arrived = (model: GateModel, input: Extract<GateInput, { _tag: "Arrived" }>): Updated => {
  const what = meant(input, model.current)
  if (what._tag === "Pasted") return quietly(pasted(model, what.text))
  let updated = quietly(model)
  for (const key of what.keys) {
    const next = pressed({ ...updated.model, notice: undefined }, key)
    updated = { model: next.model, requests: [...updated.requests, ...next.requests] }
  }
  return updated
}

/** The gate after the input, and what is to be done for it. */
export const updateGate = (model: GateModel, input: GateInput): Updated => {
  switch (input._tag) {
    case "Arrived":
      return arrived(model, input)
    case "Opened":
      return opened(model, input.question)
    case "Closed":
      return closed(model, input.escalationId, input.how)
    case "Told":
      return quietly(noticed(model, input.text, "faint"))
    case "SessionRead":
      return quietly({ ...model, sessions: { ...model.sessions, [input.escalationId]: input.session } })
    case "Looked":
      return quietly({
        ...model,
        evidence: { ...model.evidence, [evidenceKey(input.escalationId, input.tab)]: input.text }
      })
    case "Edited":
      return edited(model, input.escalationId, input.text)
    case "Sent": {
      const sent = removed(model, input.escalationId)
      return { ...sent, model: noticed(sent.model, `Answered ${input.escalationId}.`, "good") }
    }
    case "Refused":
      return refused(model, input.escalationId, input.message)
    case "NotForked":
      return quietly(notForked(model, input))
    case "Heard":
      return quietly(heard(model, input.message))
    case "Ticked":
      return ticked(model, input.nowMs)
    case "Resized":
      return quietly({ ...model, size: input.size })
  }
}
