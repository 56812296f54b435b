/**
 * The optional YAML block on top of a plan: `id`, `title`, `gates`, `limits` (continuation: Plans). `gates` and `limits`
 * are wishes in the words of the run's options, kept as plain data. A plan is not trusted configuration: its
 * `gates.quality` and `gates.verify` must never be run without the trust that commands in `reprise.toml` need (workspace: Trust).
 */
import type { GateOptions, RunLimits } from "@reprise/protocol"
import { Schema } from "effect"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const line = Schema.String.check(Schema.isPattern(/\S/, { message: "must not be empty" }))

export const PlanGates = Schema.Struct({
  quality: Schema.optionalKey(Schema.Array(line)),
  qualityTimeoutMs: Schema.optionalKey(count),
  verify: Schema.optionalKey(Schema.Array(line)),
  phase: Schema.optionalKey(Schema.Literals(["auto", "human"]))
} satisfies Record<keyof GateOptions, unknown>)
export type PlanGates = typeof PlanGates.Type

export const PlanLimits = Schema.Struct({
  maxReviewIterations: Schema.optionalKey(count),
  maxQualityRetries: Schema.optionalKey(count),
  maxAutoRetries: Schema.optionalKey(count),
  maxStepVisits: Schema.optionalKey(count),
  maxStepsPerRun: Schema.optionalKey(count),
  maxContinuations: Schema.optionalKey(count),
  turnInactivityMs: Schema.optionalKey(count),
  turnWallMs: Schema.optionalKey(count),
  maxAgentTurns: Schema.optionalKey(count),
  tokenBudget: Schema.optionalKey(count),
  costBudget: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
} satisfies Record<keyof RunLimits, unknown>)
export type PlanLimits = typeof PlanLimits.Type

/** Names a plan in the state file and in paths. */
export const PlanId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message: "must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit"
  })
)

export const FrontMatter = Schema.Struct({
  id: Schema.optionalKey(PlanId),
  title: Schema.optionalKey(line),
  gates: Schema.optionalKey(PlanGates),
  limits: Schema.optionalKey(PlanLimits)
})
export type FrontMatter = typeof FrontMatter.Type

/** The keys that may stand at the top and under `gates` and `limits`. */
export const frontMatterKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": Object.keys(FrontMatter.fields),
  gates: Object.keys(PlanGates.fields),
  limits: Object.keys(PlanLimits.fields)
}
