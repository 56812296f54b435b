/** The content of SUMMARY.md (docs/design/continuation.md#many-checkpoints-and-the-summary), filled from the journal. */
import { AgentChoice, AgentRole, CheckpointType, PhaseId, Role, StepAgent, Tokens } from "@reprise/protocol"
import { Schema } from "effect"

export const TaskStatus = Schema.Literals([
  "complete",
  "complete (pre-checkpoint)",
  "complete (post-checkpoint)",
  "checkpoint",
  "pending"
])
export type TaskStatus = typeof TaskStatus.Type

export const TaskResult = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  status: TaskStatus,
  /** Whether the plan's box is ticked, whatever the run says. */
  checked: Schema.optionalKey(Schema.Boolean),
  commit: Schema.optionalKey(Schema.String),
  /** The commit's subject line. */
  subject: Schema.optionalKey(Schema.String),
  checkpoint: Schema.optionalKey(CheckpointType),
  /** The human's answer to the checkpoint. */
  resolution: Schema.optionalKey(Schema.String)
})
export type TaskResult = typeof TaskResult.Type

/** Tokens and cost (US dollars) of one role in one phase, as the runtime counted them. */
export const Usage = Schema.Struct({ phase: PhaseId, role: AgentRole, tokens: Tokens, cost: Schema.Finite })
export type Usage = typeof Usage.Type

export const Summary = Schema.Struct({
  planId: Schema.String,
  title: Schema.optionalKey(Schema.String),
  runId: Schema.optionalKey(Schema.String),
  /** The only phase in this summary; absent for a summary of the whole run. */
  phase: Schema.optionalKey(PhaseId),
  phases: Schema.Array(
    Schema.Struct({
      id: PhaseId,
      title: Schema.String,
      /** Absent while the phase is not complete. */
      completedBy: Schema.optionalKey(Schema.Literals(["review", "override"])),
      /** The phase's newest verified commit. */
      commit: Schema.optionalKey(Schema.String),
      tasks: Schema.Array(TaskResult)
    })
  ),
  overrides: Schema.Array(Schema.Struct({ phase: PhaseId, by: Schema.String, reason: Schema.String })),
  /** Findings of the reviewer that were declined. */
  declined: Schema.Array(
    Schema.Struct({ phase: PhaseId, id: Schema.String, title: Schema.String, reason: Schema.String })
  ),
  /** Sentences about what was done differently than planned. */
  deviations: Schema.Array(Schema.String),
  /** Who humans chose as the author of a phase in place of the run's, in the order of the choices. */
  authors: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        phase: PhaseId,
        ...AgentChoice.fields,
        by: Schema.String
      })
    )
  ),
  /** Who did the steps of a phase, each once, where not all agents were the same. */
  agents: Schema.optionalKey(Schema.Array(Schema.Struct({ phase: PhaseId, ...StepAgent.fields }))),
  /** What agents were refused, and how often. */
  refusals: Schema.Array(
    Schema.Struct({
      phase: Schema.optionalKey(PhaseId),
      role: Role,
      text: Schema.String,
      times: Schema.Int,
      /** By the sandbox. */
      sandbox: Schema.optionalKey(Schema.Literals(["network", "write"])),
      /** The quality gate whose command it was. */
      gate: Schema.optionalKey(Schema.String)
    })
  ),
  usage: Schema.Array(Usage),
  /** Counted, never estimated: absent when the runtime reported nothing. */
  saved: Schema.optionalKey(
    Schema.Struct({
      /** Turns that continued a session. */
      continuedTurns: Schema.Int,
      /** Tokens of these turns that the runtime read from its cache. */
      cachedTokens: Schema.Int,
      /** Tokens of earlier turns that a fresh author was not sent. */
      unsentTokens: Schema.Int
    })
  )
})
export type Summary = typeof Summary.Type
