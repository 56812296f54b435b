/**
 * A plan as data (docs/design/continuation.md#plans). Everything here is JSON-safe. Checkboxes and ` - COMPLETE` only
 * say what the text shows; the run's journal decides what is done.
 */
import { CheckpointType, PhaseId } from "@reprise/protocol"
import { Schema } from "effect"
import { Position } from "../markdown/Position.ts"
import { FrontMatter } from "./FrontMatter.ts"
import { PlanProblem } from "./PlanProblem.ts"

/** A checklist item of a phase, in the order of the text; a nested item is a task of its own. */
export const Task = Schema.Struct({
  /** The id in the plan's text. `taskList` gives ids to tasks without one. */
  id: Schema.optionalKey(Schema.String),
  /** One line, without box, id and checkpoint; the id when the item has no other text. */
  text: Schema.String,
  checked: Schema.Boolean,
  /** 0 for an item of an outermost list. */
  depth: Schema.Int,
  checkpoint: Schema.optionalKey(CheckpointType),
  /** Where the item's bullet or number is. */
  position: Position
})
export type Task = typeof Task.Type

export const Phase = Schema.Struct({
  id: PhaseId,
  /** `Phase 2` when the heading has no title. */
  title: Schema.String,
  /** The heading, or the heading it is grouped under, ends in ` - COMPLETE`. */
  done: Schema.Boolean,
  completionGate: Schema.optionalKey(Schema.String),
  tasks: Schema.Array(Task),
  /** The source text, from the heading to the heading that ends the phase. */
  body: Schema.String,
  /** Where the heading is. */
  position: Position
})
export type Phase = typeof Phase.Type

export const Plan = Schema.Struct({
  /** The front matter's id. */
  id: Schema.optionalKey(Schema.String),
  /** The front matter's title, else the first level 1 heading. */
  title: Schema.optionalKey(Schema.String),
  frontMatter: FrontMatter,
  /** At least one, in ascending order of their ids. */
  phases: Schema.Array(Phase),
  /** Warnings, such as checklist items outside every phase. */
  notes: Schema.Array(PlanProblem),
  /** The text that was parsed, byte for byte. */
  source: Schema.String
})
export type Plan = typeof Plan.Type
