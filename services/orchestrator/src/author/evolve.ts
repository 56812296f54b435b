/** What turns, commits and sessions of authors change in a run. */
import { send } from "@reprise/actor"
import { defined, type SessionId, to } from "@reprise/protocol"
import { countSession } from "../limits/usage.ts"
import { asJournalled, type Evolution, type Reactions } from "../run/family.ts"
import type { EventOf } from "../run/journal.ts"
import {
  afterGiving,
  afterStartingOver,
  afterUnread,
  decisionsOf,
  isBlank,
  withWords,
  wordsFor
} from "../run/ledger.ts"
import {
  type Author,
  mergeTasks,
  nothing,
  type Pending,
  type PhaseRun,
  type Run,
  withNotice,
  withoutWork,
  withPhase
} from "../run/state.ts"

const startsSession = ({ command }: EventOf<"AuthorAsked">): boolean =>
  command._tag === "StartTurn" && command.session._tag === "New"

/** Who works in the session, where the command says it whole. */
const agentBy = ({ command }: EventOf<"AuthorAsked">): Pick<Author, "agent"> => {
  if (command._tag !== "StartTurn") return {}
  const { model, runtime, variant } = command
  const chosen = defined({ model, variant })
  return { agent: { runtime, ...chosen } }
}

const atWork = (author: Author, event: EventOf<"AuthorAsked">): Author =>
  author.sessionId === event.sessionId ? { ...author, ...agentBy(event), idleSince: undefined } : author

/** Its agent knows nothing but what it is given now: it is new, or goes on on another host. */
const beginsAnew = (phase: PhaseRun | undefined, event: EventOf<"AuthorAsked">): boolean =>
  startsSession(event) || (phase?.author?.state === "moved" && phase.author.sessionId === event.sessionId)

const authorAtWork = ({ author }: PhaseRun, event: EventOf<"AuthorAsked">): Pick<PhaseRun, "author"> => {
  if (startsSession(event)) {
    return { author: { sessionId: event.sessionId, state: "usable", ...agentBy(event), since: event.at } }
  }
  return author === undefined ? {} : { author: atWork(author, event) }
}

const phaseAfterAsking = (phase: PhaseRun, event: EventOf<"AuthorAsked">): PhaseRun => {
  const { purpose, sessionId } = event
  return {
    ...phase,
    told: {
      report: phase.told.report || purpose === "report-correction",
      commit: phase.told.commit || purpose === "commit-rejected",
      checkpoint: phase.told.checkpoint || purpose === "checkpoint-missed"
    },
    ...authorAtWork(phase, event),
    ...(beginsAnew(phase, event) ? { sessions: [...phase.sessions.filter((id) => id !== sessionId), sessionId] } : {})
  }
}

const authorAsked = (run: Run, event: EventOf<"AuthorAsked">): Run => {
  const { command, continued, purpose, sessionId } = event
  const isAnew = beginsAnew(run.phase, event)
  const ledger = isAnew ? afterStartingOver(run.ledger, sessionId) : run.ledger
  const asked = withPhase(withoutWork(run, sessionId), (phase) => phaseAfterAsking(phase, event))
  return {
    ...asked,
    pending: { _tag: "Turn", turnId: command.turnId, sessionId, purpose, continued, interrupted: false },
    ids: { ...run.ids, turns: run.ids.turns + 1, sessions: run.ids.sessions + (startsSession(event) ? 1 : 0) },
    ledger: afterGiving(
      ledger,
      [
        ...wordsFor(ledger, "author", run.phase?.id),
        // Who begins anew reads the decisions of the whole run.
        ...(isAnew ? decisionsOf(ledger) : [])
      ],
      { sessionId, turnId: command.turnId }
    )
  }
}

/** A report shows that a session is in order, whatever was assumed before, unless it has ended since. */
const authorAfterReport = (
  { phase, updatedAt: idleSince }: Run,
  { context, lastLines }: EventOf<"ReportReceived">
): Author | undefined => {
  const author = phase?.author
  if (author === undefined || author.state === "ended") return author
  const { agent, context: before, sessionId, since } = author
  return { sessionId, state: "usable", agent, since, context: context ?? before, idleSince, lastLines }
}

/** What the author says while findings are open is about these: what it declined, and why. */
const notesOnFindings = ({ items }: PhaseRun, notes: string | undefined): ReadonlyArray<string> =>
  items.length === 0 || notes === undefined || notes.trim() === ""
    ? []
    : [`The author on the review's findings: ${notes}`]

const phaseAfterReport = (run: Run, phase: PhaseRun, event: EventOf<"ReportReceived">): PhaseRun => {
  const { continued, status, unverified } = event
  return {
    ...phase,
    author: authorAfterReport(run, event),
    continued: continued === true,
    failedContinuations: phase.failedContinuations + (continued === true && status.result === "failed" ? 1 : 0),
    completedTasks:
      unverified === true ? phase.completedTasks : mergeTasks(phase.completedTasks, status.completedTasks ?? []),
    // An author that fixes findings again and again may say the same each time.
    deviations: [...new Set([...phase.deviations, ...notesOnFindings(phase, status.notes)])]
  }
}

/** An agent whose session is not in order may be at work still. */
const authorAfterFailure = (run: Run, author: Author, event: EventOf<"TurnBroke">): Author => {
  const { context = author.context, kind, lastLines = author.lastLines, message, session } = event
  const idleSince = session === "usable" ? run.updatedAt : undefined
  const told: Author = { ...author, context, lastLines, idleSince }
  if (author.state === "ended") return told
  // Nobody was told anything yet.
  if (author.state === "moved" && event.unread === true) return author
  return { ...told, state: session, why: `its last turn failed (${kind}): ${message}` }
}

const phaseAfterFailure = (run: Run, phase: PhaseRun, event: EventOf<"TurnBroke">): PhaseRun => ({
  ...phase,
  ...(phase.author === undefined ? {} : { author: authorAfterFailure(run, phase.author, event) }),
  failedContinuations: phase.failedContinuations + (event.continued === true ? 1 : 0)
})

const turnBroke = (run: Run, event: EventOf<"TurnBroke">): Run => {
  const after: Run = {
    ...withPhase(run, (phase) => phaseAfterFailure(run, phase, event)),
    pending: nothing,
    prompts: [],
    ledger: event.unread === true ? afterUnread(run.ledger, event.turnId) : run.ledger
  }
  return event.kind === "aborted"
    ? after
    : withNotice(after, `The author's turn failed (${event.kind}): ${event.message}`)
}

const authorReplaced = (author: Author): Author => {
  const replaced = { ...author, context: undefined }
  if (author.state !== "moved") return replaced
  const { movedFrom: _, why: __, ...here } = replaced
  return { ...here, state: "usable" }
}

const sessionSeen = (run: Run, event: EventOf<"SessionSeen">): Run => {
  const counted = countSession(run, event)
  if (event.kind !== "replaced") return counted
  const replaced = withPhase(counted, (phase) =>
    phase.author?.sessionId === event.sessionId ? { ...phase, author: authorReplaced(phase.author) } : phase
  )
  return withNotice(replaced, `Session ${event.sessionId} was replaced: ${event.reason ?? "no reason given"}`)
}

const withoutSession = (run: Run, sessionId: SessionId, why: string): Run =>
  withPhase(withoutWork(run, sessionId), (phase) => ({
    ...phase,
    sessions: phase.sessions.filter((id) => id !== sessionId),
    ...(phase.author?.sessionId === sessionId
      ? { author: { sessionId, state: "ended" as const, why, lastLines: phase.author.lastLines } }
      : {})
  }))

/** A turn that was interrupted, or whose session was stopped, will report that it was aborted. */
const interrupted = (pending: Pending, sessionId: SessionId): Pending =>
  pending._tag === "Turn" && pending.sessionId === sessionId ? { ...pending, interrupted: true } : pending

/** What an author says of its work, and why it declined a finding, is for the reviewer. */
const withNotes = ({ ledger, phase }: Run, notes: string | undefined): Run["ledger"] =>
  isBlank(notes) || phase === undefined
    ? ledger
    : withWords(ledger, { from: "author", for: "reviewer", phase: phase.id, text: notes })

export const authorEvolution = {
  AuthorAsked: authorAsked,
  ReportReceived: (run, event) => ({
    ...withPhase(run, (phase) => phaseAfterReport(run, phase, event)),
    pending: nothing,
    prompts: [],
    ledger: withNotes(run, event.status.notes)
  }),
  TurnBroke: turnBroke,
  CommitAccepted: (run, { commit, diffStat, notes = [] }) => ({
    ...withPhase(run, (phase) => ({
      ...phase,
      verified: commit,
      diffStat,
      remarks: [...new Set([...(phase.remarks ?? []), ...notes])]
    })),
    pending: nothing
  }),
  CommitTurnedDown: (run, { commit, detail, reason }) =>
    withNotice(
      { ...withPhase(run, (phase) => ({ ...phase, claimed: undefined })), pending: nothing },
      `Commit ${commit} was rejected (${reason}): ${detail}`
    ),
  SessionSeen: sessionSeen,
  SessionLost: (run, { sessionId, why }) => withoutSession(run, sessionId, why),
  TurnInterrupted: (run, { sessionId }) => ({ ...run, pending: interrupted(run.pending, sessionId) }),
  // The fresh author that is asked for with it takes its place.
  AuthorReplaced: (run) => run,
  SessionReleased: (run, { sessionId }) => withoutSession(run, sessionId, "it was ended"),
  SessionStopped: (run, { sessionId }) => ({
    ...withoutSession(run, sessionId, "it was ended"),
    pending: interrupted(run.pending, sessionId)
  })
} satisfies Partial<Evolution>

export const authorReactions = {
  AuthorAsked: (_runId, { command, sessionId }) => [asJournalled("session-manager", sessionId, command)],
  AuthorReplaced: (_runId, { sessionId }) => [send(to.sessionManager(sessionId).ReleaseSession())],
  TurnInterrupted: (_runId, { reason, sessionId, turnId }) => [
    send(to.sessionManager(sessionId).InterruptTurn({ turnId, reason }))
  ],
  SessionReleased: (_runId, { sessionId }) => [send(to.sessionManager(sessionId).CompleteSession())],
  SessionStopped: (_runId, { _tag, sessionId, ...how }) => [send(to.sessionManager(sessionId).AbortSession(how))]
} satisfies Partial<Reactions>
