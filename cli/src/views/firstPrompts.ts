/** What a run's first phase would ask its agents, word for word, by the services' own functions. Pure; spends nothing. */
import { preview } from "@reprise/orchestrator/preview"
import { RunId, type RunOptions, sessionPrompts } from "@reprise/protocol"
import { firstPrompt } from "@reprise/reviewer/prompts"
import { reportPrompt } from "@reprise/session-manager/prompts"
import { Result } from "effect"

export interface PlannedRun {
  /** Relative to the workspace. */
  readonly planPath: string
  /** The plan's text. */
  readonly plan: string
  readonly workspace: string
  readonly options: RunOptions
}

const runId = RunId.make("dry-run")

/** Undefined when no phase is left to do. */
export const firstPrompts = (run: PlannedRun) => {
  const { prompts } = sessionPrompts(run.options.prompts)
  const first = Result.getOrUndefined(preview({ _tag: "StartRun", runId, ...run }))
  return first === undefined
    ? undefined
    : {
        phase: first.phase,
        author: { work: first.work, report: reportPrompt("author-status", prompts) },
        reviewer: { work: firstPrompt(first.review), report: reportPrompt("verdict", prompts) }
      }
}

export type FirstPrompts = NonNullable<ReturnType<typeof firstPrompts>>

const quoted = (text: string): string => text.replaceAll(/^/gm, "  | ")

export const promptsText = ({ author, phase, reviewer }: FirstPrompts): ReadonlyArray<string> => [
  "",
  `The run begins with phase ${phase}. Its author is asked:`,
  quoted(author.work),
  "and then:",
  quoted(author.report),
  "When its commit is verified and the quality gates pass, a reviewer is asked:",
  quoted(reviewer.work),
  "and then:",
  quoted(reviewer.report)
]
