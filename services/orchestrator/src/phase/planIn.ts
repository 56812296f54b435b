/** The plan in a text. A run reads the same text when it starts and for each of its summaries: the newest are kept. */
import { parsePlan } from "@reprise/plan"

type Parsed = ReturnType<typeof parsePlan>

const mostKept = 16
const kept = new Map<string, Parsed>()

export const planIn = (text: string): Parsed => {
  const plan = kept.get(text) ?? parsePlan(text)
  // The newest is the last, so the first is the one that was not asked for longest.
  kept.delete(text)
  kept.set(text, plan)
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
  return plan
}
