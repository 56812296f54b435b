/**
 * Compares a plan that was edited during a run with the plan the run knows. The run can continue when the known phases
 * are still there, in the same order and with the same ids, and new phases come only at the end
 * (docs/design/run-machine.md).
 */
import { PhaseId } from "@reprise/protocol"
import { Result, Schema } from "effect"
import type { Plan } from "./Plan.ts"
import { taskList } from "./tasks.ts"

export const PhaseOutline = Schema.Struct({
  id: PhaseId,
  title: Schema.String,
  /** Task ids in the order of the text, as `taskList` gives them. */
  tasks: Schema.Array(Schema.String)
})
export type PhaseOutline = typeof PhaseOutline.Type

/** The part of a plan that later versions are compared with; small enough for a journal. */
export const PlanOutline = Schema.Struct({ phases: Schema.Array(PhaseOutline) })
export type PlanOutline = typeof PlanOutline.Type

export const planOutline = (plan: Plan): PlanOutline => ({
  phases: plan.phases.map((phase) => ({
    id: phase.id,
    title: phase.title,
    tasks: taskList(phase).map(({ id }) => id)
  }))
})

export const PlanChange = Schema.Struct({
  kind: Schema.Literals(["removed", "renumbered", "reordered", "inserted", "retitled", "tasks-changed"]),
  /** The id that the phase had; the id of the new phase when one is inserted. */
  phase: PhaseId,
  /** What changed and, when the run cannot continue because of it, what to do. */
  message: Schema.String,
  /** With `tasks-changed`: the ids that were removed and the ids that were added. */
  removedTasks: Schema.optionalKey(Schema.Array(Schema.String)),
  addedTasks: Schema.optionalKey(Schema.Array(Schema.String))
})
export type PlanChange = typeof PlanChange.Type

export interface SamePrefix {
  /** Ids of the phases that were added at the end. */
  readonly appended: ReadonlyArray<PhaseId>
  /** Changes inside phases (`retitled`, `tasks-changed`): worth reporting, no reason to stop. */
  readonly changes: ReadonlyArray<PlanChange>
}

/** Succeeds when a run of `before` can continue with `after`; else fails with every change, the forbidden ones first. */
export const samePrefix = (
  before: PlanOutline | Plan,
  after: PlanOutline | Plan
): Result.Result<SamePrefix, ReadonlyArray<PlanChange>> => {
  const old = phaseIndex(before)
  const now = phaseIndex(after)
  const reasons = [
    ...old.phases.flatMap((phase) => displaced(phase, old, now)),
    ...outOfOrder(old, now),
    ...inserted(old, now)
  ]
  const inside = old.phases.flatMap((phase) => changedInside(phase, now))
  return reasons.length > 0
    ? Result.fail([...reasons, ...inside])
    : Result.succeed({ appended: now.phases.slice(old.phases.length).map(({ id }) => id), changes: inside })
}

interface PhaseIndex {
  readonly phases: ReadonlyArray<PhaseOutline>
  readonly byId: ReadonlyMap<string, PhaseOutline>
  /** Without the titles that several phases share. */
  readonly byTitle: ReadonlyMap<string, PhaseOutline>
}

const phaseIndex = (plan: PlanOutline | Plan): PhaseIndex => {
  const { phases } = "source" in plan ? planOutline(plan) : plan
  const byTitle = Map.groupBy(phases, ({ title }) => title)
  return {
    phases,
    byId: new Map(phases.map((phase) => [phase.id, phase])),
    byTitle: new Map(
      phases.filter(({ title }) => byTitle.get(title)?.length === 1).map((phase) => [phase.title, phase])
    )
  }
}

/** Reports a phase that is gone, or whose title now has another number only. */
const displaced = (phase: PhaseOutline, old: PhaseIndex, now: PhaseIndex): ReadonlyArray<PlanChange> => {
  const { id, title } = phase
  const same = now.byId.get(id)
  const namesake = old.byTitle.has(title) ? now.byTitle.get(title) : undefined
  if (same?.title === title) return []
  if (namesake === undefined) {
    return same === undefined
      ? [{ kind: "removed", phase: id, message: `phase ${id} '${title}' is gone; put it back.` }]
      : []
  }
  return [
    {
      kind: "renumbered",
      phase: id,
      message: `phase ${id} '${title}' is now phase ${namesake.id}; change its number back.`
    }
  ]
}

/** Reports phases that kept their ids but changed their order. */
const outOfOrder = (old: PhaseIndex, now: PhaseIndex): ReadonlyArray<PlanChange> => {
  const kept = old.phases.filter(({ id }) => now.byId.has(id))
  const found = now.phases.filter(({ id }) => old.byId.has(id))
  return kept
    .filter(({ id }, index) => found[index]?.id !== id)
    .map(({ id, title }) => ({
      kind: "reordered",
      phase: id,
      message: `phase ${id} '${title}' has moved; move it back.`
    }))
}

/** Reports new phases before or between the known ones. */
const inserted = (old: PhaseIndex, now: PhaseIndex): ReadonlyArray<PlanChange> => {
  const lastKnown = now.phases.findLastIndex(({ id }) => old.byId.has(id))
  return now.phases
    .slice(0, Math.max(lastKnown, 0))
    .filter(({ id }) => !old.byId.has(id))
    .map(({ id, title }) => ({
      kind: "inserted",
      phase: id,
      message: `phase ${id} '${title}' is new and not at the end; move it after the last phase.`
    }))
}

const changedInside = (phase: PhaseOutline, now: PhaseIndex): ReadonlyArray<PlanChange> => {
  const same = now.byId.get(phase.id)
  if (same === undefined) return []
  const changes: Array<PlanChange> = []
  if (same.title !== phase.title) {
    changes.push({ kind: "retitled", phase: phase.id, message: `phase ${phase.id} is called '${same.title}' now.` })
  }
  const removedTasks = without(phase.tasks, same.tasks)
  const addedTasks = without(same.tasks, phase.tasks)
  if (phase.tasks.join("\n") !== same.tasks.join("\n")) {
    const words = [
      ...(removedTasks.length > 0 ? [`gone: ${removedTasks.join(", ")}`] : []),
      ...(addedTasks.length > 0 ? [`new: ${addedTasks.join(", ")}`] : [])
    ]
    const message = `tasks of phase ${phase.id} changed: ${words.length > 0 ? words.join("; ") : "their order"}.`
    changes.push({ kind: "tasks-changed", phase: phase.id, message, removedTasks, addedTasks })
  }
  return changes
}

const without = (ids: ReadonlyArray<string>, others: ReadonlyArray<string>): ReadonlyArray<string> => {
  const known = new Set(others)
  return ids.filter((id) => !known.has(id))
}
