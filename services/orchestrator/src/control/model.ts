/** Which runtime and model the agents of a run have: as it was started, or as a human has changed the model since. */
import type { Role, RuntimeName } from "@reprise/protocol"
import type { RunEvents } from "../actor/journal.ts"
import type { Run } from "../actor/state.ts"
import { locationOf } from "../phase/plan.ts"

export const runtimeOf = ({ request: { options } }: Run, role: Role): RuntimeName =>
  role === "author" ? options.runtime : (options.reviewerRuntime ?? options.runtime)

/** Undefined: the runtime chooses. A reviewer without a model of its own has the author's, if its runtime is the same. */
export const modelOf = (run: Run, role: Role): string | undefined => {
  const { model, reviewerModel } = run.request.options
  const author = run.models?.author ?? model
  if (role === "author") return author
  return (
    run.models?.reviewer ?? reviewerModel ?? (runtimeOf(run, role) === runtimeOf(run, "author") ? author : undefined)
  )
}

/** From the role's next turn on. */
export const changeModel = (run: Run, { model, role }: { readonly model: string; readonly role: Role }): RunEvents =>
  modelOf(run, role) === model ? [] : [{ _tag: "ModelChanged", ...locationOf(run), role, model }]
