/** A human who always answers, and services that do what they are asked: no run resists them for long. */
import type { RunInput } from "../../src/run/inputs.ts"
import { underWay } from "../../src/run/state.ts"
import { workspaceInputs } from "./candidates.ts"
import { runId } from "./samples.ts"
import type { Story } from "./story.ts"

/** In this order, where they are offered. `patient`: never overrides, but has the work done. */
const choices = {
  hasty: ["override", "pass", "done", "approve", "continue", "retry", "fix"],
  patient: ["fix", "pass", "done", "approve", "continue", "redo"]
} as const
export type Human = keyof typeof choices

const answer = (s: Story, human: Human): RunInput => {
  const wanted: ReadonlyArray<string> = choices[human]
  const choice = wanted.find((name) => s.choices.includes(name)) ?? s.choices[0] ?? "fix"
  return s.answerOf({ choice, guidance: "Go on." })
}

const commit = (s: Story) => (0xdef0000 + s.journal.length).toString(16)

const nextInput = (s: Story, human: Human): RunInput => {
  const { pending, status } = s.run
  if (status === "paused") return { _tag: "ResumeRun", runId }
  if (pending._tag === "Answer") return answer(s, human)
  const work = underWay(pending)
  switch (work._tag) {
    case "Turn":
      return work.interrupted
        ? { ...s.turnFailure("aborted", true), promptGiven: true }
        : s.turnReport({ result: "complete", commit: commit(s) })
    case "Review":
      return s.verdictEvent({ readiness: "ready", items: [] })
    case "Agent":
      return { _tag: "AgentIdle", runId, sessionId: work.sessionId }
    case "Workspace": {
      const [done] = workspaceInputs(s)
      if (done !== undefined) return done
      throw new Error(`The workspace has no answer to ${work.command._tag}`)
    }
    case "Answer":
    case "Nothing":
      throw new Error("The run waits for nothing")
  }
}

/** Far more than any run needs. */
const most = 400

/** Tells the run what it needs until it has ended. */
export const toItsEnd = (s: Story, human: Human): Story => {
  for (let told = 0; told < most; told++) {
    if (["completed", "failed", "aborted"].includes(s.run.status)) return s
    s.tell(nextInput(s, human))
  }
  throw new Error(`The run has not ended: ${s.run.status} at ${s.run.step}, ${s.run.reason}`)
}
