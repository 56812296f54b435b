/**
 * Which inputs a run waits for, and what each leads to. Any input that the run does not wait for never moves it
 * (docs/design/run-machine.md#the-run-machine-orchestrator).
 */
import { authorHandlers } from "../author/handlers.ts"
import { checkpointHandlers } from "../checkpoint/handlers.ts"
import { controlHandlers } from "../control/handlers.ts"
import { usageHandlers } from "../limits/usage.ts"
import { phaseHandlers } from "../phase/handlers.ts"
import { qualityHandlers } from "../quality/gates.ts"
import { withdrawMootPrompt } from "../question/agentPrompt.ts"
import { questionHandlers } from "../question/handlers.ts"
import { reviewHandlers } from "../review/handlers.ts"
import type { HandledInput, HandledType, Handler, Handlers } from "../run/family.ts"
import type { InputOf, RunInput } from "../run/inputs.ts"
import type { RunEvents } from "../run/journal.ts"
import { after, type Outcome } from "../run/moves.ts"
import type { Run } from "../run/state.ts"
import { runAfter } from "./evolve.ts"

export const handlers: Handlers = {
  ...authorHandlers,
  ...reviewHandlers,
  ...qualityHandlers,
  ...checkpointHandlers,
  ...phaseHandlers,
  ...questionHandlers,
  ...controlHandlers,
  ...usageHandlers
}

const handlerOf = <Tag extends HandledType>(tag: Tag): Handler<InputOf<Tag>> => handlers[tag]

/** Whether the input has a handler, unlike the commands that are obeyed at any time. */
export const isHandled = (input: RunInput): input is HandledInput => input._tag in handlers

export const recordOf = <Tag extends HandledType>(run: Run, tag: Tag, input: InputOf<Tag>): RunEvents =>
  handlerOf(tag).record(run, input)

const moveOf = <Tag extends HandledType>(run: Run, tag: Tag, input: InputOf<Tag>): Outcome | undefined =>
  handlerOf(tag).move(run, input)

/** Everything that an input leads to; undefined: the run waits for something else. */
export const actUpon = (run: Run, input: HandledInput): Outcome | undefined => {
  const withdrawn = withdrawMootPrompt(run, input)
  const moved = moveOf(runAfter(run, withdrawn), input._tag, input)
  return moved === undefined ? undefined : after(withdrawn, moved)
}
