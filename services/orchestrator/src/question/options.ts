/** The choices of each kind of question (docs/design/gate.md#the-gate-where-humans-answer). */
import type { CheckpointReport, EscalationOption } from "@reprise/protocol"
import type { AgentPrompt } from "../run/question.ts"
import { shorten } from "../run/text.ts"

type Guidance = EscalationOption["guidance"]

export const option = (
  name: string,
  label: string,
  guidance: Guidance = "none",
  keys: ReadonlyArray<string> = []
): EscalationOption => ({ name, label, keys, guidance })

export const continueSession = option(
  "continue-session",
  "continue session (resume the interrupted agent)",
  "optional",
  ["c"]
)

export const abort = option("abort", "abort (stop execution)", "optional", ["q"])

export const other = (label: string) => option("other", label, "required")

const fix = (label: string) => option("fix", label, "optional", ["f"])

const fixInNewSession = fix("fix in new session (start fresh with optional guidance)")

/** Another runtime and model may be named for the fresh author. */
const byAnother = (one: EscalationOption): EscalationOption => ({ ...one, agent: true })

export const changeModel = option(
  "change-model",
  "change the model and go on (name it as in reprise.toml)",
  "required",
  ["m"]
)

/** `fixLabel`: what fix does where it starts no new author session. `toAuthor`: it does so where guidance or an agent is given. */
export const stepOptions = (
  continueOffered: boolean,
  {
    fixLabel,
    toAuthor = fixLabel === undefined
  }: { readonly fixLabel?: string | undefined; readonly toAuthor?: boolean } = {}
): ReadonlyArray<EscalationOption> => [
  ...(continueOffered ? [continueSession] : []),
  toAuthor ? byAnother(fixLabel === undefined ? fixInNewSession : fix(fixLabel)) : fix(fixLabel ?? ""),
  option("override", "override and move on (force approve this phase)", "optional", ["o"]),
  abort
]

/** For a standalone session: it has no phase that could be approved. */
export const sessionOptions = (continueOffered: boolean): ReadonlyArray<EscalationOption> => [
  ...(continueOffered ? [continueSession] : []),
  fixInNewSession,
  option("abort", "abort (stop the session)", "optional", ["q"])
]

export const planOptions: ReadonlyArray<EscalationOption> = [
  option("fix", "read the plan again", "optional", ["f"]),
  option("override", "go on with the phases as they were", "optional", ["o"]),
  abort
]

export const phaseGateOptions: ReadonlyArray<EscalationOption> = [
  option("continue", "approve the phase and go on", "optional"),
  option("pause", "pause the run", "optional"),
  abort
]

export const continuationOptions: ReadonlyArray<EscalationOption> = [
  option("retry", "check again, now that the missing work is restored", "optional"),
  option("redo", "drop these tasks and have them done again", "optional"),
  abort
]

/** What is said with a rejection tells the agent what to do instead. */
const reject = (label: string) => option("reject", label, "optional")

export const permissionOptions = [option("once", "allow once"), option("always", "allow always"), reject("reject")]

/** The runtime's own choices; a question of an agent also takes free text. */
export const promptOptions = (prompt: AgentPrompt): ReadonlyArray<EscalationOption> => {
  const own = prompt.options.map(({ label, name }) => (name === "other" ? other(label) : option(name, label)))
  if (prompt.kind === "permission") {
    return own.length === 0 ? permissionOptions : own.map((one) => (one.name === "reject" ? reject(one.label) : one))
  }
  return own.some(({ name }) => name === "other") ? own : [...own, other("answer in your own words")]
}

/** A human may pass and fail single steps: the notes on them are read by their numbers. */
const verifyLabels = ({ verifySteps = [] }: CheckpointReport): { readonly pass: string; readonly fail: string } => {
  const steps = verifySteps.map((step, index) => `${index + 1} (${shorten(step, 40)})`).slice(0, 8)
  if (steps.length === 0) return { pass: "everything is right", fail: "something is wrong" }
  const example = steps.length === 1 ? "1: fail, and why" : "1: pass; 2: fail, and why"
  return {
    pass: "everything is right: each step passes",
    fail: `something is wrong: say pass or fail for each step, ${steps.join(", ")}, as in "${example}"`
  }
}

export const checkpointOptions = (checkpoint: CheckpointReport): ReadonlyArray<EscalationOption> => {
  switch (checkpoint.type) {
    case "human-verify": {
      const { fail, pass } = verifyLabels(checkpoint)
      return [option("pass", pass, "optional"), option("fail", fail, "optional")]
    }
    case "decision": {
      const own = (checkpoint.options ?? []).map(({ id, label, recommended }) =>
        option(id, recommended === true ? `${label} (recommended)` : label, "optional")
      )
      return own.some(({ name }) => name === "other") ? own : [...own, other("something else, in your own words")]
    }
    case "human-action":
      return [option("done", "the action is done", "optional"), option("cannot", "it cannot be done", "optional")]
    case "architectural-change":
      return [
        option("approve", "go on with the proposed approach", "optional"),
        other("take another approach, in your own words"),
        abort
      ]
  }
}
