/**
 * Ids are branded strings that may stand in a subject: letters, digits, `_` and `-`, at most 64.
 * They are checked when they are made and when they are read, so that `.`, `*`, `>`, white space and
 * control characters never reach a subject (docs/design/protocol.md#subjects-and-streams).
 */
import { type Brand, Hash, Schema } from "effect"

const keyPattern = /^[A-Za-z0-9_-]{1,64}$/

/** The last token of a subject: an actor's id. */
export const Key = Schema.String.check(
  Schema.isPattern(keyPattern, { message: "must be 1 to 64 letters, digits, '_' or '-'" })
)
export type Key = typeof Key.Type

export const isKey = (text: string): boolean => keyPattern.test(text)

export const RunId = Key.pipe(Schema.brand("RunId"))
export type RunId = typeof RunId.Type

export const SessionId = Key.pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

export const TurnId = Key.pipe(Schema.brand("TurnId"))
export type TurnId = typeof TurnId.Type

/** Turns by the agent that works in them: the run asks for an author's, the reviewer for its own. */
export const AuthorTurnId = TurnId.pipe(Schema.brand("AuthorTurnId"))
export type AuthorTurnId = typeof AuthorTurnId.Type
export const ReviewerTurnId = TurnId.pipe(Schema.brand("ReviewerTurnId"))
export type ReviewerTurnId = typeof ReviewerTurnId.Type

export const EscalationId = Key.pipe(Schema.brand("EscalationId"))
export type EscalationId = typeof EscalationId.Type

/** The key of the reviewer of one phase. */
export const ReviewKey = Key.pipe(Schema.brand("ReviewKey"))
export type ReviewKey = typeof ReviewKey.Type

/**
 * An id that an agent's runtime gave to a session, a question or a permission. Any text may be one, but none of our own
 * ids, whose brand is refused here.
 */
export type RuntimeId = string & { readonly [Name in keyof Brand.Brand<string>]?: never }
// The schema knows no strings without a brand.
export const RuntimeId = Schema.String as unknown as Schema.Codec<RuntimeId, string>

/** The five services. */
export const ServiceName = Schema.Literals(["orchestrator", "session-manager", "reviewer", "gate", "workspace"])
export type ServiceName = typeof ServiceName.Type

/** A machine or pod with a disk; `any` addresses whichever host is free. */
export const Host = Key.pipe(Schema.brand("Host"))
export type Host = typeof Host.Type
export const anyHost = Host.make("any")

/** `1` or `2.1`: a phase's number as the plan writes it. */
export const PhaseId = Schema.String.check(
  Schema.isPattern(/^\d{1,4}(\.\d{1,4}){0,3}$/, { message: "must be a phase number such as 2 or 2.1" })
)
export type PhaseId = typeof PhaseId.Type

/** A phase id as part of a key: `2.1` becomes `2_1`. */
export const phaseKey = (phase: PhaseId): string => phase.replaceAll(".", "_")

/** The id of a new run: its start in seconds and some random letters, so that ids sort by age. */
export const makeRunId = (startMs: number, random: string): RunId =>
  RunId.make(`r${Math.floor(startMs / 1000).toString(36)}-${random.slice(0, 8)}`)

/** Ids may have 64 characters: the stem leaves room for a phase, a letter and a count. */
const longestStem = 36

/** What the ids of a run's sessions, turns and questions begin with: the run's id, or, if it is long, its start and a hash. */
const stemOf = (run: RunId): string =>
  run.length <= longestStem
    ? run
    : `${run.slice(0, longestStem - 9)}-${(Hash.string(run) >>> 0).toString(16).padStart(8, "0")}`

/** The n-th session, turn or escalation of a run. Derived, so that a repeated decision names the same one. */
export const sessionIdOf = (run: RunId, n: number): SessionId => SessionId.make(`${stemOf(run)}-s${n}`)
export const turnIdOf = (run: RunId, n: number): AuthorTurnId => AuthorTurnId.make(`${stemOf(run)}-t${n}`)
export const escalationIdOf = (run: RunId, n: number): EscalationId => EscalationId.make(`${stemOf(run)}-e${n}`)

/** Whether an event, a view or a question belongs to a standalone session: then its run id is the session's own id. */
export const isStandalone = (of: {
  readonly runId: string
  readonly sessionId?: string
  readonly evidence?: { readonly sessionId?: string }
}): boolean => (of.sessionId ?? of.evidence?.sessionId) === of.runId

/** The key of the reviewer of one phase. It names its sessions and turns by itself, so they are counted apart. */
export const reviewKey = (run: RunId, phase: PhaseId): ReviewKey => ReviewKey.make(`${stemOf(run)}-p${phaseKey(phase)}`)
export const reviewerSessionIdOf = (run: RunId, phase: PhaseId, n: number): SessionId =>
  SessionId.make(`${reviewKey(run, phase)}-s${n}`)
export const reviewerTurnIdOf = (run: RunId, phase: PhaseId, n: number): ReviewerTurnId =>
  ReviewerTurnId.make(`${reviewKey(run, phase)}-t${n}`)
