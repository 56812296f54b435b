import { PhaseId } from "@reprise/protocol"
import { Schema } from "effect"
import type { Plan } from "./Plan.ts"
import { taskList } from "./taskList.ts"

export const PhaseOutline = Schema.Struct({
  id: PhaseId,
  title: Schema.String,
  /** In order, as `taskList` names them. */
  tasks: Schema.Array(Schema.String)
})
export type PhaseOutline = typeof PhaseOutline.Type

/** What is remembered of a plan to compare it later; small enough for a journal. */
export const PlanOutline = Schema.Struct({ phases: Schema.Array(PhaseOutline) })
export type PlanOutline = typeof PlanOutline.Type

export const planOutline = (plan: Plan): PlanOutline => ({
  phases: plan.phases.map((phase) => ({
    id: phase.id,
    title: phase.title,
    tasks: taskList(phase).map(({ id }) => id)
  }))
})
