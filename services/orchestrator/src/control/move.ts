/** A run goes on elsewhere when its host is gone for good (docs/design/run-machine.md#the-run-machine-orchestrator). */
import { type Refusal, refusing } from "@reprise/actor"
import { defined, type Host } from "@reprise/protocol"
import { Result } from "effect"
import { prepareWorkspace } from "../phase/prepareWorkspace.ts"
import { keepHeldAnswer } from "../question/answer.ts"
import { closeQuestion } from "../run/end.ts"
import type { InputOf } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { next, type Outcome, outcome } from "../run/moves.ts"
import { locationOf } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"

const refuse = refusing("orchestrator")

/** Whatever the phase's sessions have on the host is lost. */
const leaveAgents = ({ phase }: Run, from: Host): RunEvents =>
  phase === undefined
    ? []
    : [
        ...phase.sessions.map((sessionId) => ({
          ...{ _tag: "SessionStopped" as const, sessionId, reason: `host ${from} is gone`, onHost: from }
        })),
        ...(phase.reviewCycles === 0 ? [] : [{ _tag: "ReviewMoved" as const, phase: phase.id, from }])
      ]

/** The session of the author whose conversation, as far as it was saved, says what it knows. */
const savedAuthor = ({ phase }: Run) => {
  const author = phase?.author
  return author === undefined || author.state === "ended" ? {} : { author: author.sessionId }
}

/**
 * Only commits that were pushed are known elsewhere, so the phase under way begins again there. Its author and its reviewer
 * go on in their sessions, with what was saved of their conversations. What humans said in the phase is kept for them.
 */
export const moveRun = (run: Run, { from }: InputOf<"MoveRun">): Result.Result<Outcome, Refusal> => {
  const { host, runId, step } = run
  if (host !== from) {
    const where = host === undefined ? "not on a host yet" : `on host ${host}`
    return refuse("not-on-host", `Run ${runId} is ${where}, not on ${from}.`)
  }
  if (run.request.remote === undefined) {
    return refuse(
      "no-remote",
      `The code of run ${runId} is on host ${from} alone: the run has no remote. Abort it, and start it again elsewhere.`
    )
  }
  return Result.succeed(
    outcome(
      closeQuestion(run.pending, "superseded"),
      next((closed) =>
        outcome([
          ...keepHeldAnswer(closed),
          { _tag: "RunMoved", ...locationOf(run), ...defined({ step }), from, ...savedAuthor(run) },
          ...leaveAgents(run, from),
          ...prepareWorkspace(run, { host: from, cause: "gone" })
        ])
      )
    )
  )
}
