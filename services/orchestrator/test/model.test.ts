/** Runs of random inputs: whatever happens, in whatever order and however often, these things hold. */
import { assert, describe } from "@effect/vitest"
import {
  addUsage,
  EscalationCommand,
  OrchestratorCommand,
  PublicEvent,
  ReviewCommand,
  type ServiceName,
  SessionCommand,
  type Usage,
  WorkspaceCommand
} from "@reprise/protocol"
import { Schema } from "effect"
import { unansweredOf } from "../src/checkpoint/planned.ts"
import { runActor } from "../src/machine/actor.ts"
import { type RunEvent, RunEvent as RunEventSchema } from "../src/run/journal.ts"
import { sameCommit } from "../src/run/plan.ts"
import { noRun, type Run } from "../src/run/state.ts"
import { inQuotes, nameOf } from "../src/run/text.ts"
import { isAuthorStep } from "../src/run/transitions.ts"
import { always, walk } from "./support/model.ts"

const encodeCommand: Readonly<Record<ServiceName, (command: unknown) => unknown>> = {
  orchestrator: Schema.encodeUnknownSync(OrchestratorCommand),
  "session-manager": Schema.encodeUnknownSync(SessionCommand),
  reviewer: Schema.encodeUnknownSync(ReviewCommand),
  gate: Schema.encodeUnknownSync(EscalationCommand),
  workspace: Schema.encodeUnknownSync(WorkspaceCommand)
}

const allUsage = ({ usage }: Run): Usage => addUsage(usage.author, usage.reviewer)

const ended = (run: Run) => ["completed", "failed", "aborted"].includes(run.status)

/** The tasks that the workspace found when it was asked last. */
const verifiedTasks = (journal: ReadonlyArray<RunEvent>): ReadonlyArray<string> => {
  const last = journal.slice(0, journal.findLastIndex((event) => event._tag === "TasksVerified") + 1)
  const asked = last.findLast((event) => event._tag === "WorkspaceAsked" && event.command._tag === "VerifyContinuation")
  return asked?._tag === "WorkspaceAsked" && asked.command._tag === "VerifyContinuation"
    ? asked.command.completedTasks.map((task) => JSON.stringify(task))
    : []
}

describe("whatever happens to a run", () => {
  always("an end is final, and a workspace that is prepared after it is released", ({ before, events, input }) => {
    if (before._tag !== "Run" || !ended(before)) return
    const counting: ReadonlyArray<RunEvent["_tag"]> = ["Happened", "TurnCounted", "UsageAdded", "CommandRefused"]
    const { runId, status: outcome } = before
    const again = input._tag === "WorkspacePrepared" ? [{ _tag: "ReleaseWorkspace", runId, outcome }] : []
    const moving = events.filter(({ _tag }) => !counting.includes(_tag))
    assert.deepStrictEqual<ReadonlyArray<unknown>>(
      moving.map((event) => (event._tag === "WorkspaceAsked" ? event.command : event)),
      again
    )
  })

  always("what it used adds up, however often and late it is told", ({ before, input, s }) => {
    if (before._tag !== "Run") return
    const isTurn = input._tag === "TurnCompleted" || input._tag === "TurnFailed"
    const isNew = input._tag === "UsageCounted" || (isTurn && !before.counted.includes(input.turnId))
    const expected = isNew ? addUsage(allUsage(before), input) : allUsage(before)
    assert.deepStrictEqual(allUsage(s.run), expected)
  })

  always("it always waits for something, or is paused, or has ended", ({ s }) => {
    const { pending, status, step } = s.run
    if (pending._tag !== "Nothing" || ended(s.run)) return
    assert.strictEqual(status, "paused")
    // A review was interrupted, a human paused at the phase's gate, or the gate has refused the question.
    const refused = s.journal.findLast((event) => event._tag === "QuestionWithdrawn")
    const byGate = refused?._tag === "QuestionWithdrawn" && refused.byGate === true
    if (!byGate) assert.include(["REVIEW", "PHASE_GATE"], step)
  })

  always("a phase is completed only by a ready verdict on a verified commit, or by override", (step) => {
    const { journal } = step.s
    for (const [run, event] of walk(step)) {
      if (event._tag !== "PhaseCompleted") continue
      const phase = run.phase
      if (event.by === "override") {
        const answer = journal.findLast((one) => one._tag === "QuestionAnswered")
        assert.strictEqual(answer?._tag === "QuestionAnswered" ? answer.choice : undefined, "override")
        continue
      }
      const verdict = journal.findLast((one) => one._tag === "VerdictAccepted")
      const accepted = journal.findLast((one) => one._tag === "CommitAccepted")
      assert.isTrue(verdict?._tag === "VerdictAccepted" && verdict.verdict.readiness === "ready")
      assert.isTrue(accepted?._tag === "CommitAccepted" && accepted.commit === phase?.verified)
      assert.isTrue(verdict?._tag === "VerdictAccepted" && sameCommit(verdict.commit, phase?.verified ?? ""))
    }
  })

  always("no checkpoint of the plan is unanswered at a phase's approval", (step) => {
    for (const [run, event] of walk(step)) {
      if (event._tag !== "PhaseCompleted" || event.by === "override" || run.phase === undefined) continue
      assert.deepStrictEqual(unansweredOf(run, run.phase), [])
    }
  })

  always("a human is asked at a checkpoint only about tasks that the workspace has verified", (step) => {
    const { journal } = step.s
    for (const [run, event] of walk(step)) {
      if (event._tag !== "CheckpointOpened") continue
      const before = journal.slice(0, journal.indexOf(event))
      assert.strictEqual(before.at(-1)?._tag, "ClaimsAccepted")
      assert.isDefined(run.phase)
    }
  })

  always("continue is offered only for a usable author's session, and otherwise the question says why not", ({ s }) => {
    if (s.run.pending._tag !== "Answer" || s.run.pending.question.kind !== "step") return
    const { ask, retry } = s.question
    const offered = ask.options.some((option) => option.name === "continue-session")
    assert.strictEqual(offered, ask.sessionId !== undefined)
    assert.strictEqual(offered, ask.evidence.continueUnavailable === undefined)
    if (!offered) return
    assert.deepStrictEqual([s.phase.author?.sessionId, s.phase.author?.state], [ask.sessionId, "usable"])
    assert.isTrue(isAuthorStep(retry.step))
  })

  always("exactly one question is open where it waits, and none where it does not", ({ s }) => {
    const open = new Set<string>()
    for (const event of s.journal) {
      if (event._tag === "QuestionAsked") open.add(event.question.ask.escalationId)
      if (event._tag === "QuestionAnswered" || event._tag === "QuestionWithdrawn") open.delete(event.escalationId)
    }
    const { pending, status } = s.run
    const expected = pending._tag === "Answer" ? [pending.question.ask.escalationId] : []
    assert.deepStrictEqual([...open], expected)
    if (status === "waiting") assert.strictEqual(open.size, 1)
    if (status === "running" || ended(s.run)) assert.strictEqual(open.size, 0)
  })

  always("counters never exceed their limits and what was granted", ({ s }) => {
    const { granted, phase, request, steps } = s.run
    const { limits } = request.options
    assert.isAtMost(steps, limits.maxStepsPerRun + granted.steps)
    if (phase === undefined) return
    assert.isAtMost(phase.qualityRetries, limits.maxQualityRetries)
    assert.isAtMost(phase.autoRetries.length, limits.maxAutoRetries)
    assert.isAtMost(phase.verdicts, limits.maxReviewIterations + phase.reviewsGranted)
    assert.isAtMost(phase.continuations, limits.maxContinuations + phase.continuationsGranted)
    for (const [step, visits] of Object.entries(phase.visits)) {
      if (step === "PHASE_COMPLETE") continue
      assert.isAtMost(visits, limits.maxStepVisits + (phase.visitsGranted[step as "EXECUTE"] ?? 0), step)
    }
  })

  always("no commit of the phase is verified yet while its author works in EXECUTE", ({ s }) => {
    if (s.run.step === "EXECUTE" && s.run.pending._tag === "Turn") assert.isUndefined(s.phase.verified)
  })

  always("a fresh author starts only when every completed task it is told about has been verified", (step) => {
    const { journal } = step.s
    for (const [run, event] of walk(step)) {
      if (event._tag !== "AuthorAsked" || event.command._tag !== "StartTurn") continue
      if (event.command.session._tag !== "New") continue
      const verified = new Set(verifiedTasks(journal.slice(0, journal.indexOf(event))))
      for (const task of run.phase?.completedTasks ?? []) assert.isTrue(verified.has(JSON.stringify(task)), task.id)
    }
  })

  always("a checkpoint that was resolved leads to one fresh author at most", ({ s }) => {
    const count = (is: (event: RunEvent) => boolean) => s.journal.filter(is).length
    const opened = count((event) => event._tag === "CheckpointOpened")
    const started = s.journal.flatMap((event, index) =>
      event._tag === "StepStarted" && event.cause === "checkpoint-resolved" ? [s.journal[index + 1]] : []
    )
    assert.isAtMost(started.length, opened)
    for (const event of started) {
      const command = event?._tag === "AuthorAsked" ? event.command : undefined
      assert.strictEqual(command?._tag === "StartTurn" ? command.session._tag : undefined, "New")
    }
  })

  always("what humans say reaches every author session of its phase, once, and no other phase", (step) => {
    for (const [run, event] of walk(step)) {
      if (event._tag !== "AuthorAsked") continue
      const { command, sessionId } = event
      const text = command._tag === "StartTurn" ? command.prompt : (command.guidance ?? "")
      for (const { decision, from, given, phase, text: words, ...entry } of run.ledger) {
        if (from !== "human" || words === "") continue
        // A decision is read in later phases, too.
        if (decision !== undefined && phase !== run.phase?.id) continue
        // A standalone session starts over under its own id.
        const startsOver = command._tag === "StartTurn" && command.session._tag === "New"
        const isNew = startsOver || !given.some((one) => one.sessionId === sessionId)
        const isWanted = phase === run.phase?.id && entry.for !== "reviewer" && isNew
        assert.strictEqual(text.includes(words), isWanted, `${words} to ${sessionId}`)
      }
    }
  })

  always("a reviewer is handed everything that was said for it in its phase", (step) => {
    for (const [run, event] of walk(step)) {
      if (event._tag !== "ReviewAsked") continue
      const said = run.ledger.filter(
        (entry) => entry.phase === run.phase?.id && entry.for !== "author" && entry.text !== ""
      )
      assert.deepStrictEqual(
        event.command.words.map(({ id }) => id),
        said.map(({ id }) => id)
      )
    }
  })

  always("every fresh author and every reviewer reads the decisions of the whole run", (step) => {
    for (const [run, event] of walk(step)) {
      const decisions = run.ledger.flatMap(({ decision, id }) => (decision === undefined ? [] : [{ ...decision, id }]))
      if (event._tag === "ReviewAsked") {
        assert.deepStrictEqual(
          event.command.decisions.map(({ id }) => id),
          decisions.map(({ id }) => id)
        )
      }
      if (event._tag !== "AuthorAsked" || event.command._tag !== "StartTurn") continue
      const { prompt, session } = event.command
      if (session._tag !== "New") continue
      for (const { answer, question, task, type } of decisions) {
        const asked = inQuotes(question, 160)
        assert.include(prompt, `, ${nameOf(task, 80)} (${type}): ${asked} → ${inQuotes(answer, 160)}.`)
      }
    }
  })

  always("nothing that anybody said is lost: the ledger only grows", ({ before, s }) => {
    if (before._tag === "NoRun") return
    const said = (run: Run) => run.ledger.map(({ from, id, text }) => `${id} ${from} ${text}`)
    assert.deepStrictEqual(said(s.run).slice(0, before.ledger.length), said(before))
  })

  always("every turn has its own id, and every fresh author its own session", ({ s }) => {
    const asked = s.journal.flatMap((event) => (event._tag === "AuthorAsked" ? [event] : []))
    const turns = asked.map((event) => event.command.turnId)
    assert.strictEqual(new Set(turns).size, turns.length)
    // A standalone session keeps its id when it starts over.
    if (s.run.standalone !== undefined) return
    const fresh = asked.filter(({ command }) => command._tag === "StartTurn" && command.session._tag === "New")
    assert.strictEqual(new Set(fresh.map((event) => event.sessionId)).size, fresh.length)
  })

  always("everything it sends fits the schemas of the protocol", ({ s }) => {
    for (const message of s.last) {
      if (message._tag === "PublishEvent") Schema.encodeUnknownSync(PublicEvent)(message.event)
      if (message._tag === "SendCommand") encodeCommand[message.service](message.command)
    }
  })

  always(
    "its journal, written and read again, gives the state it is in",
    () => undefined,
    (s) => {
      const written = JSON.stringify(s.journal.map((event) => Schema.encodeSync(RunEventSchema)(event)))
      const read = Schema.decodeUnknownSync(Schema.Array(RunEventSchema))(JSON.parse(written))
      assert.deepStrictEqual(read.reduce(runActor.evolve, noRun), s.state)
    }
  )
})
