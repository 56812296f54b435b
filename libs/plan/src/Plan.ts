/**
 * A plan as data (continuation: Plans). Everything here is JSON-safe, and `source` keeps the text byte for byte, so that
 * a plan is printed as it was read. Checkboxes and ` - COMPLETE` are what the text shows; the run's journal decides.
 */
import { CheckpointType, PhaseId } from "@reprise/protocol"
import { Schema } from "effect"
import { FrontMatter } from "./FrontMatter.ts"
import { PlanProblem } from "./PlanProblem.ts"
import { Position } from "./Position.ts"

/** A checklist item of a phase, in the order of the text; a nested item is a task of its own. */
export const Task = Schema.Struct({
  /** As the plan writes it. `taskList` gives an id to tasks without one. */
  id: Schema.optionalKey(Schema.String),
  /** One line, without box, id and checkpoint; the id when the item says nothing else. */
  text: Schema.String,
  checked: Schema.Boolean,
  /** 0 for an item of an outermost list. */
  depth: Schema.Int,
  checkpoint: Schema.optionalKey(CheckpointType),
  /** Of the item's bullet or number. */
  position: Position,
  /** Offset in the source of the character between the brackets. */
  box: Schema.Int
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
  /** Of the heading. */
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
  /** What is odd but no reason to refuse, such as checklist items outside of every phase. */
  notes: Schema.Array(PlanProblem),
  source: Schema.String
})
export type Plan = typeof Plan.Type
