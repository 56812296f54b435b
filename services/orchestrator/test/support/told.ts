/** What a run was told, remembered apart from the run: what has been told already will not be told again. */
import { reviewKey } from "@reprise/protocol"
import type { RunInput } from "../../src/run/inputs.ts"
import type { RunEvent } from "../../src/run/journal.ts"
import { type Pending, underWay } from "../../src/run/state.ts"
import { workspaceInputs } from "./candidates.ts"
import { runId } from "./samples.ts"
import { Story } from "./story.ts"

const askedOfWorkspace = (s: Story): number => s.journal.filter((event) => event._tag === "WorkspaceAsked").length

/** The same run, for a story that goes another way from here. */
export const copyOf = (s: Story): Story => {
  const copy = new Story()
  copy.state = s.state
  copy.journal = [...s.journal]
  copy.sent = [...s.sent]
  return copy
}

const askedTurns = ({ journal }: Story): ReadonlyArray<string> =>
  journal.flatMap((event) => (event._tag === "AuthorAsked" ? [event.command.turnId] : []))

const wasAsked = (s: Story, escalationId: string): boolean =>
  s.journal.some((event) => event._tag === "QuestionAsked" && event.question.ask.escalationId === escalationId)

export class Told {
  readonly #turns = new Set<string>()
  readonly #reviews = new Set<string>()
  readonly #questions = new Set<string>()
  readonly #work = new Set<number>()
  /** The last that was seen in each session outside of turns. */
  readonly presence = new Map<string, RunInput["_tag"]>()
  /** The sessions in which somebody works, since they were last prompted. */
  readonly atWork = new Set<string>()

  /** Before the run is told this. */
  note(s: Story, input: RunInput): void {
    const current = s.state._tag === "Run" ? underWay(s.run.pending) : undefined
    if (current?._tag === "Workspace") {
      const answers = workspaceInputs(s).map((answer) => JSON.stringify(answer))
      if (answers.includes(JSON.stringify(input))) this.#work.add(askedOfWorkspace(s))
    }
    switch (input._tag) {
      case "TurnCompleted":
      case "TurnFailed":
        if (askedTurns(s).includes(input.turnId)) this.#turns.add(input.turnId)
        this.atWork.delete(input.sessionId)
        return
      case "VerdictReached":
      case "ReviewFailed":
        this.#reviews.add(`${input.phase} ${input.cycle}`)
        return
      case "AnswerReceived":
      case "EscalationWithdrawn":
        if (wasAsked(s, input.escalationId)) this.#questions.add(input.escalationId)
        return
      case "CommandRefused":
        if (input.turnId !== undefined) this.#turns.add(input.turnId)
        if (input.escalationId !== undefined) this.#questions.add(input.escalationId)
        if (input.command === "RequestReview" && current?._tag === "Review") {
          this.#reviews.add(`${s.phase.id} ${current.cycle}`)
        }
        return
      case "AgentWorking":
        // A turn takes over what was done in its session before.
        if (input.cause === "turn") {
          this.atWork.delete(input.sessionId)
          return
        }
        this.presence.set(input.sessionId, input._tag)
        this.atWork.add(input.sessionId)
        return
      case "AgentIdle":
      case "AgentGone":
      case "SessionExpired":
      case "SessionCompleted":
      case "SessionAborted":
      case "SessionFailed":
      case "SessionArchived":
        this.presence.set(input.sessionId, input._tag)
        this.atWork.delete(input.sessionId)
        return
      default:
        return
    }
  }

  /**
   * A turn that is asked for takes the work in its session over: its report says how that stands. A watch that finds
   * nothing under way finds nobody at work either.
   */
  noteEvents(input: RunInput, events: ReadonlyArray<RunEvent>): void {
    const isStuck = input._tag === "ReportStuck"
    for (const event of events) {
      if (isStuck && (event._tag === "TurnInterrupted" || event._tag === "AgentRested"))
        this.atWork.delete(event.sessionId)
      if (event._tag === "AuthorAsked") this.atWork.delete(event.sessionId)
      if (event._tag !== "ReviewAsked") continue
      const { phase, runId } = event.command
      for (const id of this.atWork) if (id.startsWith(`${reviewKey(runId, phase)}-`)) this.atWork.delete(id)
    }
  }

  /** Why the end of this will not come; undefined: it may come. */
  #vain(s: Story, pending: Pending): string | undefined {
    switch (pending._tag) {
      case "Nothing":
        return "it waits for nothing"
      case "Turn":
        return this.#turns.has(pending.turnId) ? `turn ${pending.turnId} has ended` : undefined
      case "Review":
        return this.#reviews.has(`${s.phase.id} ${pending.cycle}`) ? `review ${pending.cycle} has ended` : undefined
      case "Workspace":
        return this.#work.has(askedOfWorkspace(s)) ? `${pending.command._tag} was answered` : undefined
      case "Agent": {
        const last = this.presence.get(pending.sessionId)
        return last === "AgentWorking" ? undefined : `the last of the agent's session is ${last}`
      }
      case "Answer": {
        const { escalationId } = pending.question.ask
        if (this.#questions.has(escalationId)) return `question ${escalationId} was closed`
        return pending.under._tag === "Nothing" ? undefined : this.#vain(s, pending.under)
      }
    }
  }

  /** Why a run, once it is resumed, would wait without end; undefined: it does not. */
  inVain(s: Story, resumes = 0): string | undefined {
    if (["completed", "failed", "aborted"].includes(s.run.status)) return undefined
    if (s.run.status !== "paused") return this.#vain(s, s.run.pending)
    // A refusal that came in the pause pauses the run again, once, with its reason.
    if (resumes > 1) return "it cannot be resumed"
    return this.inVain(copyOf(s).tell({ _tag: "ResumeRun", runId }), resumes + 1)
  }
}
