/** Which question and which of its tabs the human looks at. Pure. */
import { currentQuestion, filtered, type GateModel, type GateRequest, type Tab, tabs, writtenNow } from "./GateModel.ts"

interface Navigated {
  readonly model: GateModel
  readonly requests: ReadonlyArray<GateRequest>
}

/** What was read before is shown until it was read again. */
const read = (model: GateModel): ReadonlyArray<GateRequest> => {
  const question = currentQuestion(model)
  return question === undefined || model.tab === "question" ? [] : [{ _tag: "Look", question, tab: model.tab }]
}

/** Shows the question; undefined: none. */
export const show = (model: GateModel, escalationId: string | undefined): Navigated => {
  const shown: GateModel = { ...model, current: escalationId, tab: "question", scroll: undefined }
  return { model: shown, requests: [] }
}

export const showTab = (model: GateModel, tab: Tab): Navigated => {
  const shown = { ...model, tab, scroll: undefined }
  return { model: shown, requests: read(shown) }
}

/** The next tab, or the one before. */
export const turnTab = (model: GateModel, step: 1 | -1): Navigated =>
  showTab(model, tabs[(tabs.indexOf(model.tab) + step + tabs.length) % tabs.length] ?? "question")

/** The next question, or the one before; what was written for this one is kept. */
export const skip = (model: GateModel, step: 1 | -1): Navigated => {
  const { current } = model
  const shown = filtered(model)
  const place = shown.findIndex(({ escalationId }) => escalationId === current)
  const next = shown[(place + step + shown.length) % shown.length]
  return next === undefined || next.escalationId === current
    ? { model, requests: [] }
    : show(keepDraft(model), next.escalationId)
}

/** What was written for the question that is shown is there when it is shown again. */
export const keepDraft = (model: GateModel): GateModel => {
  const { current, drafts } = model
  return current === undefined ? model : { ...model, drafts: { ...drafts, [current]: writtenNow(model) } }
}

/** The questions that this filter lets through, and the first of them if the one that is shown is not among them. */
export const setFilter = (model: GateModel, filter: string): Navigated => {
  const narrowed = { ...model, filter }
  const shown = filtered(narrowed)
  return shown.some(({ escalationId }) => escalationId === model.current)
    ? { model: narrowed, requests: [] }
    : show(narrowed, shown[0]?.escalationId)
}
