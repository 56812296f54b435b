/** A run told as a story: inputs in, what it sends out. Every verb answers what the run waits for. */
import { type AnyOutgoing, type Delivery, type Refusal, send } from "@reprise/actor"
import {
  type AuthorStatus,
  type GateResult,
  Host,
  type Item,
  noTokens,
  noUsage,
  reviewerSessionIdOf,
  type SessionId,
  type Verdict
} from "@reprise/protocol"
import { Result } from "effect"
import type { SessionEnd } from "../../src/author/session.ts"
import { runActor } from "../../src/machine/actor.ts"
import { awaitedWork } from "../../src/run/awaitedWork.ts"
import type { InputOf, RunInput } from "../../src/run/inputs.ts"
import type { RunEvent } from "../../src/run/journal.ts"
import { noRun, type Pending, type PhaseRun, type Run, type RunState, underWay } from "../../src/run/state.ts"
import { lineOf } from "./lines.ts"
import { failedGate, head, item, type OptionsInput, runId, startRun, startStandalone, twoPhases } from "./samples.ts"

type Answer = { readonly choice: string; readonly guidance?: string }

export class Story {
  state: RunState = noRun
  journal: Array<RunEvent> = []
  sent: Array<AnyOutgoing> = []
  #deliveries = 0
  #hours = 0

  /** The last input. */
  told: RunInput | undefined

  /** Decides about an input; `last` is what the run sends for it. */
  try(input: RunInput, how: Partial<Delivery> = {}): Result.Result<ReadonlyArray<RunEvent>, Refusal> {
    this.told = input
    this.#deliveries += 1
    this.#hours += 1
    const delivery = {
      id:
        input._tag === "AnswerReceived"
          ? `escalation.${input.escalationId}.${this.#deliveries}.0`
          : `message-${this.#deliveries}`,
      key: runId,
      now: new Date(Date.UTC(2026, 0, 1) + this.#hours * 1000).toISOString(),
      ...how
    }
    const decision = runActor.decide(this.state, input, delivery)
    const events = Result.isSuccess(decision) ? decision.success : []
    this.state = events.reduce(runActor.evolve, this.state)
    this.journal.push(...events)
    this.last = events.length === 0 ? [] : runActor.react(this.state, events, delivery)
    this.sent.push(...this.last)
    return decision
  }
  last: ReadonlyArray<AnyOutgoing> = []

  /** Lines of what the last input led to. */
  get lines(): ReadonlyArray<string> {
    return this.last.map(lineOf)
  }

  tell(input: RunInput, how: Partial<Delivery> = {}): this {
    const decision = this.try(input, how)
    if (Result.isFailure(decision)) throw new Error(`${input._tag} was refused: ${decision.failure.reason}`)
    return this
  }

  get run(): Run {
    if (this.state._tag === "NoRun") throw new Error("The run has not been started")
    return this.state
  }
  get phase(): PhaseRun {
    const { phase } = this.run
    if (phase === undefined) throw new Error("No phase has begun")
    return phase
  }
  /** The phase's newest author session. */
  get author(): SessionId {
    const sessionId = this.run.phase?.author?.sessionId
    if (sessionId === undefined) throw new Error("The phase has no author's session")
    return sessionId
  }
  get question() {
    const { pending } = this.run
    if (pending._tag !== "Answer") throw new Error(`The run waits for ${pending._tag}, not for an answer`)
    return pending.question
  }
  get choices(): ReadonlyArray<string> {
    return this.question.ask.options.map((option) => option.name)
  }
  pending<Tag extends Pending["_tag"]>(tag: Tag): Extract<Pending, { readonly _tag: Tag }> {
    const pending = tag === "Answer" ? this.run.pending : underWay(this.run.pending)
    if (pending._tag !== tag) throw new Error(`The run waits for ${pending._tag}, not for ${tag}`)
    return pending as Extract<Pending, { readonly _tag: Tag }>
  }

  /** The newest command of this name, as it was sent. */
  command<A extends RunCommandName>(name: A): SentCommand<A> {
    const message = this.sent.findLast((one) => one._tag === "SendCommand" && one.command._tag === name)
    if (message === undefined || message._tag !== "SendCommand") throw new Error(`${name} was never sent`)
    return message.command as unknown as SentCommand<A>
  }
  /** The text that the author was given last. */
  get prompt(): string {
    return this.command("StartTurn").prompt
  }

  start(options: OptionsInput = {}, plan = twoPhases): this {
    return this.tell(startRun(options, plan))
  }
  /** Up to the first turn of a standalone session. */
  standalone(more: Partial<InputOf<"StartStandaloneRun">> = {}): this {
    return this.tell({ ...startStandalone, ...more })
  }
  prepared(): this {
    const host = Host.make("host1")
    return this.tell({ _tag: "WorkspacePrepared", runId, host, directory: "/repo", head, branch: "main" })
  }
  /** Up to the author's first turn. */
  executing(options: OptionsInput = {}, plan = twoPhases): this {
    return this.start(options, plan).prepared()
  }

  turnReport(status: AuthorStatus, more: Partial<InputOf<"TurnCompleted">> = {}): InputOf<"TurnCompleted"> {
    const { sessionId, turnId } = this.pending("Turn")
    return {
      _tag: "TurnCompleted",
      runId,
      phase: this.phase.id,
      sessionId,
      turnId,
      role: "author",
      report: "author-status",
      status,
      tokens: { ...noTokens, input: 100, output: 10 },
      cost: 0.5,
      calls: 1,
      duration: 1,
      attempts: 1,
      lastLines: "I stop here",
      ...more
    }
  }
  /** What is claimed at a checkpoint holds; `lines` are of both. */
  reports(status: AuthorStatus): this {
    return this.tell(this.turnReport(status)).claimsVerified()
  }
  /** If claims are to be verified, they hold. */
  claimsVerified(): this {
    const { pending } = this.run
    if (pending._tag !== "Workspace" || pending.command._tag !== "VerifyClaims") return this
    const { phase, tasks } = pending.command
    const { last, told } = this
    this.tell({ _tag: "ClaimsVerified", runId, phase, tasks })
    this.last = [...last.filter((message) => message._tag !== "SendCommand"), ...this.last]
    this.told = told
    return this
  }
  claimsRejected(detail = "T1 is nowhere"): this {
    const { commit = "abc9999" } = this.command("VerifyClaims")
    return this.tell({ _tag: "ClaimsRejected", runId, phase: this.phase.id, commit, reason: "missing", detail })
  }
  completes(commit?: string, more: Partial<AuthorStatus> = {}): this {
    return this.reports({ result: "complete", ...(commit === undefined ? {} : { commit }), ...more })
  }
  needsHuman(reason = "I need to know more"): this {
    return this.reports({ result: "needs_human", reason })
  }
  turnFailure(kind: InputOf<"TurnFailed">["kind"], sessionUsable = false): InputOf<"TurnFailed"> {
    const { sessionId, turnId } = this.pending("Turn")
    return {
      _tag: "TurnFailed",
      runId,
      phase: this.phase.id,
      sessionId,
      turnId,
      role: "author",
      kind,
      message: `it was ${kind}`,
      sessionUsable,
      ...noUsage,
      duration: 1,
      attempts: 1
    }
  }
  turnFails(kind: InputOf<"TurnFailed">["kind"], sessionUsable = false): this {
    return this.tell(this.turnFailure(kind, sessionUsable))
  }
  /** `promptGiven`: its agent had read its prompt. */
  turnInterrupted(promptGiven = true): this {
    return this.tell({ ...this.turnFailure("aborted", true), promptGiven })
  }
  commitVerified(...notes: ReadonlyArray<string>): this {
    const { commit } = this.command("VerifyCommit")
    return this.tell({ _tag: "CommitVerified", runId, phase: this.phase.id, commit, diffStat: "1 file changed", notes })
  }
  commitRejected(): this {
    const { commit } = this.command("VerifyCommit")
    const detail = `${commit} is nowhere`
    return this.tell({ _tag: "CommitRejected", runId, phase: this.phase.id, commit, reason: "missing", detail })
  }
  /** The author completes its work, and its commit is verified; without one, the one that is verified already. */
  worked(commit?: string): this {
    return this.completes(commit).commitVerified()
  }
  gates(passed: boolean, refused?: GateResult["refused"]): this {
    const { attempt } = this.command("RunQualityGates")
    const place = { runId, phase: this.phase.id, attempt }
    const seen = refused === undefined ? {} : { refused }
    return this.tell(
      passed
        ? { _tag: "QualityPassed", ...place, results: [{ ...failedGate, ...seen, exitCode: 0 }] }
        : { _tag: "QualityFailed", ...place, results: [{ ...failedGate, ...seen }] }
    )
  }
  verdictEvent(verdict: Verdict): InputOf<"VerdictReached"> {
    const { commit, cycle } = this.pending("Review")
    return { _tag: "VerdictReached", runId, phase: this.phase.id, verdict, commit, cycle }
  }
  verdict(readiness: Verdict["readiness"], ...items: ReadonlyArray<Item>): this {
    return this.tell(this.verdictEvent({ readiness, items }))
  }
  /** The session of the phase's first reviewer. */
  get reviewer(): SessionId {
    return reviewerSessionIdOf(runId, this.phase.id, 1)
  }
  /** The reviewer needs a human, as its session tells it. */
  reviewerAsks(more: Partial<InputOf<"VerdictReached">> = {}): this {
    const verdict = this.verdictEvent({ readiness: "not_ready", items: [item("R1", "human_required")] })
    return this.tell({ ...verdict, sessionId: this.reviewer, lastLines: "Is R1 meant so?", ...more })
  }
  reviewBreaks(kind: InputOf<"ReviewFailed">["kind"] = "invalid-report"): this {
    const { cycle } = this.pending("Review")
    return this.tell({ _tag: "ReviewFailed", runId, phase: this.phase.id, reason: "no verdict", kind, cycle })
  }
  /** `sessionKept`: the reviewer goes on in it. */
  reviewInterrupted(sessionKept = true): this {
    const { cycle } = this.pending("Review")
    const failed = {
      _tag: "ReviewFailed",
      runId,
      phase: this.phase.id,
      reason: "paused",
      kind: "aborted",
      cycle
    } as const
    return this.tell(sessionKept ? { ...failed, sessionKept } : failed)
  }
  /** Also with the fresh reviewer that the run tries by itself. */
  reviewFails(): this {
    this.reviewBreaks()
    return this.run.pending._tag === "Review" ? this.reviewBreaks() : this
  }
  treeClean(plan: string = this.run.source, newHead = "0000000f", more: Partial<InputOf<"PhaseFinished">> = {}): this {
    const { id: phase } = this.phase
    return this.tell({ _tag: "PhaseFinished", runId, phase, head: newHead, plan, ...more }).phaseSummarised()
  }
  /** The summary of a phase is written where one is asked for; `lines` are of both. */
  phaseSummarised(): this {
    const { pending, runId } = this.run
    if (pending._tag !== "Workspace" || pending.command._tag !== "WriteSummary") return this
    const { path, phase } = pending.command
    if (phase === undefined) return this
    const { last, told } = this
    this.tell({ _tag: "SummaryWritten", runId, phase, path })
    this.last = [...last, ...this.last]
    this.told = told
    return this
  }
  treeDirty(...dirty: ReadonlyArray<string>): this {
    return this.tell({ _tag: "PhaseBlocked", runId, phase: this.phase.id, dirty })
  }
  headMoved(newHead: string): this {
    return this.tell({ _tag: "PhaseBlocked", runId, phase: this.phase.id, dirty: [], head: newHead })
  }
  /** From the author's turn to the approved phase. */
  phaseApproved(commit: string): this {
    this.worked(commit)
    if (this.run.step === "QUALITY_CHECK") this.gates(true)
    return this.verdict("ready").treeClean()
  }
  /** What the watch over runs reports of the run as it is. */
  stuckReport(more: Partial<InputOf<"ReportStuck">> = {}): InputOf<"ReportStuck"> {
    const waitsFor = awaitedWork(this.run)
    const seen = { updatedAt: this.run.updatedAt, missing: "Nothing is under way.", session: "usable" } as const
    return { _tag: "ReportStuck", runId, ...seen, ...(waitsFor === undefined ? {} : { waitsFor }), ...more }
  }
  isStuck(more: Partial<InputOf<"ReportStuck">> = {}): this {
    return this.tell(this.stuckReport(more))
  }
  answerOf({ choice, guidance }: Answer): InputOf<"AnswerReceived"> {
    return {
      _tag: "AnswerReceived",
      runId,
      escalationId: this.question.ask.escalationId,
      choice,
      ...(guidance === undefined ? {} : { guidance }),
      by: "anna",
      via: "cli"
    }
  }
  answer(choice: string, guidance?: string): this {
    return this.tell(this.answerOf({ choice, ...(guidance === undefined ? {} : { guidance }) })).phaseSummarised()
  }
  agent(tag: "AgentIdle" | "AgentGone" | SessionEnd["_tag"], sessionId = this.author): this {
    return this.tell(
      tag === "SessionAborted" || tag === "SessionFailed"
        ? { _tag: tag, runId, sessionId, reason: "x" }
        : { _tag: tag, runId, sessionId }
    )
  }
  agentWorks(cause: "turn" | "human" | "agent" = "human", sessionId = this.author): this {
    return this.tell({ _tag: "AgentWorking", runId, sessionId, cause, evidence: "a tool call" })
  }
  agentPrompts(promptId: string, kind: "permission" | "question" = "permission", sessionId = this.author): this {
    const options = kind === "permission" ? ["once", "always", "reject"] : ["red", "blue"]
    return this.tell({
      _tag: "AgentPrompting",
      runId,
      sessionId,
      promptId,
      kind,
      text: `May I? (${promptId})`,
      options: options.map((name) => ({ name, label: name }))
    })
  }
  permissionRefused(text: string, role: "author" | "reviewer" = "author", rule?: string): this {
    const { author: sessionId } = this
    const phase = this.run.phase === undefined ? {} : { phase: this.run.phase.id }
    return this.tell({
      ...{ _tag: "PermissionRefused", runId, ...phase, sessionId, role, promptId: "p1", text, unattended: true },
      ...(rule === undefined ? {} : { rule })
    })
  }
  /** What the sandbox refused to a command. */
  sandboxRefused(text: string, sandbox: "network" | "write", role: "author" | "reviewer" = "author"): this {
    const { author: sessionId } = this
    const { id: phase } = this.phase
    const wish = { role, promptId: "p1", text, sandbox, unattended: true }
    return this.tell({ _tag: "PermissionRefused", runId, phase, sessionId, ...wish })
  }
  stateWritten(
    path = ".planning/phases/01-x/.continuation-state.json",
    more: Partial<InputOf<"ContinuationStateWritten">> = {}
  ): this {
    return this.tell({ _tag: "ContinuationStateWritten", runId, phase: this.phase.id, path, ...more })
  }
  tasksVerified(): this {
    return this.tell({ _tag: "ContinuationVerified", runId, phase: this.phase.id })
  }
  summaryWritten(): this {
    return this.tell({ _tag: "SummaryWritten", runId, path: this.command("WriteSummary").path })
  }
}

type AnyCommand =
  | Extract<RunEvent, { readonly _tag: "WorkspaceAsked" }>["command"]
  | Extract<RunEvent, { readonly _tag: "AuthorAsked" }>["command"]
  | Extract<RunEvent, { readonly _tag: "ReviewAsked" }>["command"]
  | Extract<RunEvent, { readonly _tag: "QuestionAsked" }>["question"]["ask"]
type RunCommandName = AnyCommand["_tag"]
type SentCommand<A extends RunCommandName> = Extract<AnyCommand, { readonly _tag: A }>

export const story = () => new Story()
/** A command to the run's workspace, as it is sent. */
export const toWorkspace = (command: AnyCommand) => send({ service: "workspace", key: runId, command })
