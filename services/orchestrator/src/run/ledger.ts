/**
 * The ledger of a run: what humans and authors said for somebody, and the sessions that were given it.
 * Every prompt takes its words from here, so that none is lost, given twice to a session, or carried over the end of its
 * phase (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
import { quote } from "@reprise/plan/quote"
import {
  type Decision,
  type Evidence,
  minuteText,
  type PhaseId,
  type Role,
  type RunView,
  type SessionId,
  type TurnId,
  type Words
} from "@reprise/protocol"
import { inQuotes, nameOf } from "./text.ts"

/** A session that was given an entry, and in which turn. */
interface Given {
  readonly sessionId: SessionId
  readonly turnId?: TurnId | undefined
}

interface LedgerEntry extends Words {
  /** Its place among all entries so far, from 1. */
  readonly id: number
  readonly given: ReadonlyArray<Given>
}

export type Ledger = ReadonlyArray<LedgerEntry>

/** What the view shows of a ledger, and what the state keeps at least. The journal keeps all. */
const newestEntries = 200

/**
 * Whether an old entry may still be given to somebody: until the run ends, or for as long as its phase lasts. Of what
 * authors told the reviewer of a phase, a fresh reviewer needs the newest only.
 */
const isStillNeeded = ({ decision, from, given, phase }: LedgerEntry, current: PhaseId): boolean =>
  decision !== undefined || phase === undefined || (phase === current && (from !== "author" || given.length === 0))

/** Without the old entries that nobody is given any more, so that a run of any length loads as fast. */
const withoutPast = (ledger: Ledger, phase: PhaseId | undefined): Ledger =>
  phase === undefined || ledger.length <= newestEntries
    ? ledger
    : ledger.filter((entry, n) => n >= ledger.length - newestEntries || isStillNeeded(entry, phase))

/** The id of the newest entry; 0 in an empty ledger. */
export const newestId = (ledger: Ledger): number => ledger.at(-1)?.id ?? 0

export const isBlank = (text: string | undefined): text is undefined | "" => text === undefined || text.trim() === ""

export const withWords = (ledger: Ledger, words: Words, given: ReadonlyArray<Given> = []): Ledger =>
  withoutPast([...ledger, { ...words, id: newestId(ledger) + 1, given }], words.phase)

/** What was said between two phases is for the one that begins. */
export const atPhaseStart = (ledger: Ledger, phase: PhaseId): Ledger =>
  withoutPast(
    ledger.map((entry) => (entry.phase === undefined ? { ...entry, phase } : entry)),
    phase
  )

const isFor = (entry: LedgerEntry, role: Role, phase: PhaseId | undefined): boolean =>
  entry.phase === phase && (entry.for === role || entry.for === "both")

/** Everything that this role is to know in this phase, oldest first. */
export const wordsFor = (ledger: Ledger, role: Role, phase: PhaseId | undefined): Ledger =>
  ledger.filter((entry) => isFor(entry, role, phase) && !isBlank(entry.text))

interface DecisionEntry extends LedgerEntry {
  readonly decision: Decision
}

/** The decisions of the whole run, oldest first: everybody who comes later is to know them. */
export const decisionsOf = (ledger: Ledger): ReadonlyArray<DecisionEntry> =>
  ledger.flatMap(({ decision, ...entry }) => (decision === undefined ? [] : [{ ...entry, decision }]))

/** Verify commands answer by themselves; a decision that no human made is what its author recommended. */
const answeredBy = ({ by, decision: { type }, from }: DecisionEntry): string => {
  if (by !== undefined || from === "human") return by ?? "a human"
  return type === "decision"
    ? "the author's own recommendation, taken by auto mode: no answer of a person"
    : "auto mode"
}

/** A decision on one line, with the words of agents and humans in quotes. What was said with it is left out in its own phase, whose prompts quote it word for word. */
export const decisionLine = (entry: DecisionEntry, phase: PhaseId | undefined): string => {
  const { at, answer, question, task, type } = entry.decision
  const said = entry.phase === phase || isBlank(entry.text) ? "" : ` ${inQuotes(entry.text, 300)}`
  const when = minuteText(at)
  return `- Phase ${entry.phase ?? "?"}, ${nameOf(task, 80)} (${type}): ${inQuotes(question, 160)} → ${inQuotes(answer, 160)}.${said} (${answeredBy(entry)}, ${when})`
}

const wasGiven = ({ given }: LedgerEntry, sessionId: SessionId): boolean =>
  given.some((one) => one.sessionId === sessionId)

/** What this session was not given yet. */
export const newTo = (entries: Ledger, sessionId: SessionId): Ledger =>
  entries.filter((entry) => !wasGiven(entry, sessionId))

/** The ledger after a prompt that gave the session these entries. */
export const afterGiving = (ledger: Ledger, entries: Ledger, given: Given): Ledger => {
  const ids = new Set(newTo(entries, given.sessionId).map(({ id }) => id))
  return ledger.map((entry) => (ids.has(entry.id) ? { ...entry, given: [...entry.given, given] } : entry))
}

/** A conversation begins under an id that another one had: nothing was given to it. */
export const afterStartingOver = (ledger: Ledger, sessionId: SessionId): Ledger =>
  ledger.map((entry) => ({ ...entry, given: entry.given.filter((one) => one.sessionId !== sessionId) }))

/** The prompt of this turn never reached its agent: what it gave is to be given again. */
export const afterUnread = (ledger: Ledger, turnId: TurnId): Ledger =>
  ledger.map((entry) => ({ ...entry, given: entry.given.filter((one) => one.turnId !== turnId) }))

/** An entry for a human, word for word. */
const entryText = ({ about, text }: Pick<Words, "about" | "text">): string =>
  about === undefined ? text : `${about}:\n${text}`

/** An entry for a prompt, word for word. What a human's words are about is named in the words of an agent. */
export const promptText = (words: Pick<Words, "about" | "from" | "text">): string =>
  words.from === "human" && words.about !== undefined ? `${quote(`${words.about}:`)}\n${words.text}` : entryText(words)

/** What a question shows: `isReviewer` tells the sessions of the phase's reviewer from those of its authors. */
export const willBeTold = (
  ledger: Ledger,
  phase: PhaseId | undefined,
  author: SessionId | undefined,
  isReviewer: (sessionId: SessionId) => boolean
): Pick<Evidence, "willBeTold"> => {
  const forAuthor = wordsFor(ledger, "author", phase)
  const forReviewer = wordsFor(ledger, "reviewer", phase)
  const told = [
    ...(author === undefined ? forAuthor : newTo(forAuthor, author)).map((entry) => ["author", entry] as const),
    ...forReviewer
      .filter(({ given }) => !given.some(({ sessionId }) => isReviewer(sessionId)))
      .map((entry) => ["reviewer", entry] as const)
  ]
  return told.length === 0 ? {} : { willBeTold: told.map(([role, entry]) => ({ role, text: entryText(entry) })) }
}

export const ledgerView = (ledger: Ledger): RunView["ledger"] =>
  ledger.slice(-newestEntries).map(({ given, id: _, ...words }) => ({
    ...words,
    givenTo: given.map(({ sessionId }) => sessionId)
  }))
