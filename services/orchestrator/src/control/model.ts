/** Which model the agents of a run have: as the run was started, or as a human has changed it since. */
import type { Role } from "@reprise/protocol"
import type { RunEvents } from "../actor/journal.ts"
import type { Run } from "../actor/state.ts"
import { locationOf } from "../phase/plan.ts"

/** Undefined: the runtime chooses. A reviewer without a model of its own has the author's. */
export const modelOf = (run: Run, role: Role): string | undefined => {
  const { model, reviewerModel } = run.request.options
  const author = run.models?.author ?? model
  return role === "author" ? author : (run.models?.reviewer ?? reviewerModel ?? author)
}

/** From the role's next turn on. */
export const changeModel = (run: Run, { model, role }: { readonly model: string; readonly role: Role }): RunEvents =>
  modelOf(run, role) === model ? [] : [{ _tag: "ModelChanged", ...locationOf(run), role, model }]
