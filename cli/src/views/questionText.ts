/** An open question as text for people. Agent text is made safe. Pure. */
import { whyAsked } from "@reprise/gate/whyAsked"
import {
  type EscalationView,
  type GateResult,
  gateOutput,
  isStandalone,
  minuteText,
  type Role,
  uncachedTokens
} from "@reprise/protocol"
import { color } from "../terminal/Printer.ts"
import { quotedLines, quotedRest, visibleLine } from "../terminal/visible.ts"
import { stepName } from "./stepText.ts"

/** A part of a question: a line of Reprise, or untrusted text below a title. */
export type QuestionPart =
  | { readonly _tag: "line"; readonly text: string }
  | { readonly _tag: "quoted"; readonly title: string; readonly text: string }

const quoted = (title: string, text: string | undefined): ReadonlyArray<QuestionPart> =>
  text === undefined || text.trim() === "" ? [] : [{ _tag: "quoted", title, text: text.trimEnd() }]

const oneLine = (text: string | undefined): ReadonlyArray<string> => (text === undefined ? [] : [text])

const ownLines = (lines: ReadonlyArray<string>): ReadonlyArray<QuestionPart> =>
  lines.map((text) => ({ _tag: "line", text }))

/** The reason for a failure is usually at the end, so a truncated output is shown from its tail. */
const endOf = (result: GateResult): string =>
  result.overlap === undefined && result.tail !== "" ? result.tail : gateOutput(result)

const failedGates = ({ evidence: { gateResults } }: EscalationView): string | undefined =>
  gateResults
    ?.filter(({ exitCode }) => exitCode !== 0)
    .map((result) => {
      const end = result.timedOut ? "timed out" : `exit ${result.exitCode}`
      return `${result.command} → ${end} (log ${result.logRef})\n${endOf(result)}`
    })
    .join("\n")

const itemLines = ({ items }: EscalationView): string | undefined =>
  items
    ?.map(
      ({ action, id, priority, reason, title }) =>
        `${priority} ${id} ${title} (${action})${reason === "" ? "" : `: ${reason}`}`
    )
    .join("\n")

/** Without the description if that is the question's reason, which is shown anyway. */
const checkpointOf = ({ evidence: { checkpoint }, reason }: EscalationView): string | undefined => {
  if (checkpoint === undefined) return undefined
  const name = `${checkpoint.task} (${checkpoint.type})`
  return checkpoint.description === reason ? name : `${name}: ${checkpoint.description}`
}

/** How long ago an ISO time is, in words. */
export const since = (iso: string, nowMs: number): string => {
  const minutes = Math.max(0, Math.floor((nowMs - Date.parse(iso)) / 60_000))
  if (minutes < 1) return "just now"
  if (minutes < 120) return `${minutes} min ago`
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 60 / 24)} days ago`
}

/** `c = continue session (…)`; an option without a short key is shown by its name. */
export const optionLines = (question: EscalationView): ReadonlyArray<string> =>
  question.options.map((option) => `${option.keys[0] ?? option.name} = ${visibleLine(option.label)}`)

const where = ({ evidence, phase, step, ...question }: EscalationView): string =>
  [
    isStandalone(question) ? `session ${question.runId}` : `run ${question.runId}`,
    ...oneLine(evidence.planPath === undefined ? undefined : `plan ${visibleLine(evidence.planPath)}`),
    ...(phase === undefined
      ? []
      : [`phase ${phase}${evidence.phaseTitle === undefined ? "" : ` (${visibleLine(evidence.phaseTitle)})`}`]),
    ...oneLine(step === undefined ? undefined : stepName(step)),
    ...(evidence.attempt === undefined ? [] : [`attempt ${evidence.attempt}`])
  ].join(", ")

const used = ({ evidence: { cost = 0, tokens } }: EscalationView): string | undefined => {
  if (tokens === undefined) return undefined
  const cached = tokens.cacheRead === 0 ? "" : ` (and ${tokens.cacheRead} from the cache)`
  return `Used so far: ${uncachedTokens(tokens)} tokens${cached}, $${cost.toFixed(4)}`
}

/** How full its conversation is: a full one is not worth continuing. */
const fill = ({ evidence: { context } }: EscalationView): ReadonlyArray<string> => {
  if (context === undefined) return []
  const { limit, tokens } = context
  return limit === undefined || limit === 0
    ? [`${tokens} tokens in its context`]
    : [`${Math.round((100 * tokens) / limit)} % of its context used (${tokens} of ${limit} tokens)`]
}

const opens = (session: string) => `'reprise attach ${session}' opens it`

/** The session of the agent that asks, and the author's if that is another one. */
const sessionLines = (question: EscalationView, nowMs: number): ReadonlyArray<string> => {
  const { authorSessionId: author, idleSince, sessionId: shown } = question.evidence
  const session = question.sessionId ?? shown
  const idle = idleSince === undefined ? [] : [`idle since ${minuteText(idleSince)} (${since(idleSince, nowMs)})`]
  const asking = author === undefined ? "Session" : "The reviewer's session"
  return [
    ...(session === undefined
      ? []
      : [`${[`${asking} ${session}`, ...idle, ...fill(question)].join(", ")}; ${opens(session)}`]),
    ...(author === undefined ? [] : [`The author's session ${author}; ${opens(author)}`])
  ]
}

const toldNext = ({ evidence: { willBeTold = [] } }: EscalationView, reader: Role): string =>
  willBeTold.flatMap(({ role, text }) => (role === reader ? [text] : [])).join("\n\n")

/** Who asks, for how long, and where. */
export const askingLines = (question: EscalationView, nowMs: number): ReadonlyArray<string> => [
  `${whyAsked[question.origin]}, ${since(question.raisedAt, nowMs)}`,
  where(question)
]

/** What was asked, and what there is to know before an answer. */
export const questionParts = (question: EscalationView, nowMs: number): ReadonlyArray<QuestionPart> => {
  const { evidence } = question
  const { checkpoint, continueUnavailable, missingCommits = [], missingFiles = [] } = evidence
  return [
    ...quoted("Why", question.reason),
    ...quoted("Items", itemLines(question)),
    ...quoted("Failed quality gates", failedGates(question)),
    ...quoted("Not committed", evidence.dirty?.join("\n")),
    ...quoted("Missing", [...missingCommits, ...missingFiles].join("\n")),
    ...quoted("Checkpoint", checkpointOf(question)),
    ...quoted("Verify", checkpoint?.verifySteps?.map((step, n) => `${n + 1}. ${step}`).join("\n")),
    ...quoted("Do", checkpoint?.requiredAction),
    ...quoted(`The ${question.origin === "reviewer" ? "reviewer" : "agent"}'s last lines`, evidence.lastLines),
    ...quoted("The author will be told", toldNext(question, "author")),
    ...quoted("The reviewer will be told", toldNext(question, "reviewer")),
    ...quoted("Commit", [...oneLine(evidence.commit), ...oneLine(evidence.diffStat)].join("\n")),
    ...ownLines([...oneLine(used(question)), ...sessionLines(question, nowMs)]),
    ...(continueUnavailable === undefined
      ? []
      : ownLines([`Continuing is not possible: ${quotedRest(continueUnavailable)}`]))
  ]
}

const partText = (part: QuestionPart): string =>
  part._tag === "line" ? part.text : `${color.bold(part.title)}\n${quotedLines(part.text)}`

export const questionText = (question: EscalationView, nowMs: number): string =>
  [
    color.yellow(color.bold(`Your answer is needed (${question.escalationId})`)),
    ...askingLines(question, nowMs),
    ...questionParts(question, nowMs).map(partText),
    "",
    ...optionLines(question)
  ].join("\n")
