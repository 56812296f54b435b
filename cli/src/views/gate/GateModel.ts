/** What the full-screen gate knows and shows (docs/design/gate.md#the-gate-where-humans-answer). Pure. */
import {
  type EscalationOption,
  type EscalationView,
  type LiveMessage,
  matchesFilter,
  type RuntimeName,
  type SessionView
} from "@reprise/protocol"
import type { Draft } from "./Draft.ts"
import type { Arrived } from "./keys.ts"

export const tabs = ["question", "diff", "log", "transcript"] as const
export type Tab = (typeof tabs)[number]

export interface Answer {
  readonly choice: string
  readonly guidance?: string
  /** Who is to take over. */
  readonly runtime?: RuntimeName
  readonly model?: string
  readonly variant?: string
  /** The commit that the human was shown; absent: that of the question as it is sent. */
  readonly commit?: string
}

/** What keys mean now. */
export type Mode =
  | { readonly _tag: "Reading" }
  | { readonly _tag: "Help" }
  | { readonly _tag: "Filtering" }
  /** The choice is taken; Enter sends it, with what was written. */
  | { readonly _tag: "Writing"; readonly option: EscalationOption; readonly draft: Draft }
  /** A choice that nobody can take back. */
  | { readonly _tag: "Confirming"; readonly option: EscalationOption; readonly guidance: string }
  /** It was confirmed, and is sent when the time is over. */
  | { readonly _tag: "Undoable"; readonly option: EscalationOption; readonly answer: Answer; readonly untilMs: number }
  /** `words`: what was written, given back if the answer is refused. */
  | { readonly _tag: "Sending"; readonly answer: Answer; readonly words: string }
  /** An editor has the terminal. */
  | { readonly _tag: "Editing"; readonly option: EscalationOption; readonly draft: Draft }

export interface Notice {
  readonly text: string
  readonly tone: "good" | "bad" | "faint"
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

export interface GateModel {
  /** The open ones, the oldest first. */
  readonly questions: ReadonlyArray<EscalationView>
  /** The question that is shown. Undefined: none is open. */
  readonly current: string | undefined
  readonly mode: Mode
  readonly filter: string
  readonly tab: Tab
  /** The first row of the page that is shown; undefined: where the page begins by itself. */
  readonly scroll: number | undefined
  readonly notice: Notice | undefined
  /** What was written for a question and not sent, by the question's id. */
  readonly drafts: Readonly<Record<string, string>>
  /** What was looked at, by the question's id and the tab. */
  readonly evidence: Readonly<Record<string, string>>
  /** The session of the agent that asks, by the question's id. */
  readonly sessions: Readonly<Record<string, SessionView>>
  /** What the agents of a run write now, by the run's id. */
  readonly live: Readonly<Record<string, string>>
  readonly nowMs: number
  readonly size: Size
}

export type GateInput =
  /** `seen`: the question that was on the screen when it was typed. */
  | { readonly _tag: "Arrived"; readonly what: Arrived; readonly seen: string | undefined }
  /** A question was raised, or says something else now. */
  | { readonly _tag: "Opened"; readonly question: EscalationView }
  /** `how` follows the question's id in a sentence. */
  | { readonly _tag: "Closed"; readonly escalationId: string; readonly how: string }
  | { readonly _tag: "Told"; readonly text: string }
  | { readonly _tag: "SessionRead"; readonly escalationId: string; readonly session: SessionView }
  | { readonly _tag: "Looked"; readonly escalationId: string; readonly tab: Tab; readonly text: string }
  /** `text` undefined: the editor failed. */
  | { readonly _tag: "Edited"; readonly escalationId: string; readonly text: string | undefined }
  | { readonly _tag: "Sent"; readonly escalationId: string }
  | { readonly _tag: "Refused"; readonly escalationId: string; readonly message: string }
  /** `words`: given back to the human. */
  | { readonly _tag: "NotForked"; readonly escalationId: string; readonly words: string; readonly message: string }
  | { readonly _tag: "Heard"; readonly message: LiveMessage }
  | { readonly _tag: "Ticked"; readonly nowMs: number }
  | { readonly _tag: "Resized"; readonly size: Size }

/** What the human's program is to do. */
export type GateRequest =
  | { readonly _tag: "Send"; readonly question: EscalationView; readonly answer: Answer }
  | { readonly _tag: "Look"; readonly question: EscalationView; readonly tab: Tab | "attach" }
  /** The question stays open. */
  | { readonly _tag: "Fork"; readonly question: EscalationView; readonly words: string }
  | { readonly _tag: "ReadSession"; readonly question: EscalationView }
  | { readonly _tag: "Edit"; readonly question: EscalationView; readonly text: string }
  /** Words that nobody will read: the human gets them back. */
  | { readonly _tag: "Keep"; readonly escalationId: string; readonly text: string }
  | { readonly _tag: "Leave"; readonly by: "interrupt" | "end" }

export const emptyGate = (nowMs: number, size: Size): GateModel => ({
  questions: [],
  current: undefined,
  mode: { _tag: "Reading" },
  filter: "",
  tab: "question",
  scroll: undefined,
  notice: undefined,
  drafts: {},
  evidence: {},
  sessions: {},
  live: {},
  nowMs,
  size
})

export const currentQuestion = ({ current, questions }: GateModel): EscalationView | undefined =>
  questions.find(({ escalationId }) => escalationId === current)

/** The questions that the filter lets through. */
export const filtered = ({ filter, questions }: GateModel): ReadonlyArray<EscalationView> =>
  filter === "" ? questions : questions.filter((question) => matchesFilter(question, filter))

export const evidenceKey = (escalationId: string, tab: Tab): string => `${escalationId} ${tab}`

/** What the human has written for the question that is shown. */
export const writtenNow = ({ current, drafts, mode }: GateModel): string => {
  switch (mode._tag) {
    case "Writing":
    case "Editing":
      return mode.draft.text
    case "Confirming":
      return mode.guidance
    case "Undoable":
      return mode.answer.guidance ?? ""
    default:
      return current === undefined ? "" : (drafts[current] ?? "")
  }
}

/** Everything that was written and not sent. An editor that is open keeps its text in its file. */
export const unsent = (model: GateModel): ReadonlyArray<string> => {
  const { current, drafts, mode } = model
  const others = Object.entries(drafts).flatMap(([id, text]) => (id === current ? [] : [text]))
  const isElsewhere = mode._tag === "Sending" || mode._tag === "Editing"
  return [...others, ...(isElsewhere ? [] : [writtenNow(model)])].filter((text) => text.trim() !== "")
}
