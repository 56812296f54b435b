/** Whether a reported verdict can be acted on. What its readiness means is the run machine's business. */
import type { Verdict } from "@reprise/protocol"
import { Result } from "effect"

/** The verdict, or in one sentence why it is none: every item needs an id of its own and a title. */
export const checkVerdict = (verdict: Verdict | undefined): Result.Result<Verdict, string> => {
  if (verdict === undefined) return Result.fail("The reviewer's turn ended without a verdict.")
  const nameless = verdict.items.find((item) => item.id.trim() === "" || item.title.trim() === "")
  if (nameless !== undefined) return Result.fail("The verdict has an item without an id or a title.")
  const ids = verdict.items.map((item) => item.id)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? Result.succeed(verdict) : Result.fail(`The verdict has two items with the id ${twice}.`)
}
