/** Every check, by its name. */
import type { Check, Evidence, Violation } from "./Check.ts"
import type { Histories } from "./histories.ts"
import * as journals from "./journals.ts"
import * as prompts from "./prompts.ts"
import * as questions from "./questions.ts"
import * as runs from "./runs.ts"

const checks: Readonly<Record<string, Check>> = { ...journals, ...prompts, ...questions, ...runs }

export const violationsOf = (story: Evidence, histories: Histories): ReadonlyArray<Violation> =>
  Object.entries(checks).flatMap(([check, look]) => look(story, histories).map((detail) => ({ check, detail })))
