/** What the ends of authors' turns, their commits and their sessions lead to. */
import { countTurn } from "../limits/usage.ts"
import { type Handle, type Handler, type Handlers, ignored, inPhase, onReport } from "../run/family.ts"
import type { InputOf } from "../run/inputs.ts"
import type { Outcome } from "../run/moves.ts"
import { sameCommit } from "../run/plan.ts"
import { type PhaseRun, type Run, type Turn, workOf } from "../run/state.ts"
import { claimsRejected, commitRejected, commitVerified } from "./commit.ts"
import { turnCompleted, turnFailed } from "./report.ts"
import { endedWithTurn, noteTakenOver, sessionSeen } from "./session.ts"

const onCommit = <Input extends InputOf<"CommitVerified" | "CommitRejected">>(handle: Handle<Input>): Handler<Input> =>
  onReport("VerifyCommit", (run, input, { commit }) =>
    sameCommit(commit, input.commit) ? inPhase(handle)(run, input) : undefined
  )

/** The end of the author's turn that the run waits for. What it cost counts in any case. */
const onTurnEnd = <Input extends InputOf<"TurnCompleted" | "TurnFailed">>(
  handle: (run: Run, phase: PhaseRun, turn: Turn, input: Input) => Outcome
): Handler<Input> => ({
  record: (run, input) => [...countTurn(run, input), ...noteTakenOver(run, input), ...endedWithTurn(run, input)],
  move: (run, input) => {
    const turn = workOf(run, "Turn")
    return turn?.turnId === input.turnId && run.phase !== undefined ? handle(run, run.phase, turn, input) : undefined
  }
})

export const authorHandlers = {
  TurnCompleted: onTurnEnd(turnCompleted),
  TurnFailed: onTurnEnd((run, _phase, turn, input) => turnFailed(run, turn, input)),
  CommitVerified: onCommit((run, _phase, input) => commitVerified(run, input)),
  CommitRejected: onCommit(commitRejected),
  ClaimsRejected: onReport("VerifyClaims", inPhase(claimsRejected)),
  SessionCreated: ignored((_run, { sessionId }) => sessionSeen("created", { sessionId })),
  SessionReused: ignored((_run, input) => sessionSeen("reused", input)),
  SessionReplaced: ignored((_run, { reason, sessionId }) => sessionSeen("replaced", { sessionId, reason }))
} satisfies Partial<Handlers>
