/** A plan as the web console lists it. Pure. */
import { parsePlan } from "@reprise/plan"
import { type ConsolePlan, defined } from "@reprise/protocol"
import { Result } from "effect"

/** Whether a file can be a plan at all. To look is quick, to parse is not: a list of 256 KB takes seconds. */
export const mayBePlan = (text: string): boolean => /phase/i.test(text)

/** A heading of a phase, as in a plan with a mistake: it is listed with what is wrong. */
export const meansToBePlan = (text: string): boolean => /(?<![^\r\n])#{1,6}\s+phase\b/i.test(text)

/** Of all that is said of a plan in the list. */
const mostCharacters = 64 * 1024

/** Undefined: it is no plan. */
export const listedPlan = (path: string, text: string): ConsolePlan | undefined => {
  const parsed = parsePlan(text)
  if (Result.isSuccess(parsed)) {
    const { phases, title } = parsed.success
    const plan = {
      path,
      ...defined({ title }),
      phases: phases.map(({ done, id, title }) => ({ id, title, done }))
    }
    return JSON.stringify(plan).length <= mostCharacters
      ? plan
      : { path, phases: [], problem: "Its phases are too long for this list. Start it in a terminal." }
  }
  if (!meansToBePlan(text)) return undefined
  const [{ line, message } = { line: 1, message: "It is not a plan." }] = parsed.failure
  return { path, phases: [], problem: `Line ${line}: ${message}` }
}
