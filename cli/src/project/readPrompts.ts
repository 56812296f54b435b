import type { RunOptions } from "@reprise/protocol"
import { Effect } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import type { Project } from "./Project.ts"
import { readPromptFiles } from "./promptFiles.ts"

const shown = 20

/** The user's texts by name. Fails with exit code 3, naming everything that is wrong with its line and column. */
export const readPrompts = Effect.fn("readPrompts")(function* (project: Project) {
  const { problems, prompts } = yield* readPromptFiles(project)
  if (problems.length > 0) {
    const lines = problems.slice(0, shown).map((problem) => `  ${problem}`)
    return yield* missing(
      "prompt-invalid",
      `These prompts cannot be used:\n${lines.join("\n")}`,
      "'reprise prompts list' names the prompts, 'reprise prompts show NAME' the variables of one."
    )
  }
  const byName: RunOptions["prompts"] = Object.fromEntries(prompts.map(({ name, text }) => [name, text]))
  return byName
})
