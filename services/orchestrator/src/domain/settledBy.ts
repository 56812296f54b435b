import { isPass } from "@reprise/plan"
import type { Continuation } from "./Event.ts"

/** The task whose verification passed: nothing is left to do for it, as long as its work is there. */
export const settledBy = (continuation: Continuation | undefined): string | undefined => {
  const { checkpoint, resolution } = continuation ?? {}
  return checkpoint?.report.type === "human-verify" && resolution !== undefined && isPass(resolution)
    ? checkpoint.report.task
    : undefined
}
