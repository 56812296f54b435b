/** What stories have shown: rows of the run machine, faults that happened, and how runs ended. */
import { questions, transitions } from "@reprise/orchestrator"
import type { Histories } from "./checks/histories.ts"
import type { Story } from "./simulate.ts"

export type Counts = Record<string, number>

export interface Coverage {
  stories: number
  steps: number
  virtualMs: number
  kills: number
  readonly rows: Counts
  readonly questions: Counts
  readonly faults: Counts
  readonly ends: Counts
}

export const noCoverage = (): Coverage => ({
  ...{ stories: 0, steps: 0, virtualMs: 0, kills: 0 },
  ...{ rows: {}, questions: {}, faults: {}, ends: {} }
})

const count = (counts: Counts, name: string, more = 1): void => {
  counts[name] = (counts[name] ?? 0) + more
}

export const addStory = (coverage: Coverage, story: Story, { orchestrator }: Histories): void => {
  coverage.stories += 1
  coverage.steps += story.steps
  coverage.virtualMs += story.elapsedMs
  coverage.kills += story.kills
  for (const fault of story.happened)
    count(coverage.faults, "does" in fault ? `${fault._tag} ${fault.does}` : fault._tag)
  for (const state of story.progress.states.values())
    count(coverage.ends, state._tag === "Ended" ? state.how : state._tag)
  for (const { steps } of orchestrator.values()) {
    let from = "start"
    for (const { events } of steps) {
      for (const event of events) {
        if (event._tag === "QuestionAsked")
          count(coverage.questions, `${event.question.ask.origin} at ${event.question.ask.step}`)
        if (event._tag !== "StepStarted") continue
        count(coverage.rows, `${event.cause}: ${from} → ${event.step}`)
        from = event.step
      }
    }
  }
}

export const addCoverage = (all: Coverage, more: Coverage): void => {
  all.stories += more.stories
  all.steps += more.steps
  all.virtualMs += more.virtualMs
  all.kills += more.kills
  for (const kind of ["rows", "questions", "faults", "ends"] as const) {
    for (const [name, times] of Object.entries(more[kind])) count(all[kind], name, times)
  }
}

/** Rows of the tables that no story has taken. */
export const rowsMissing = ({ questions: asked, rows }: Coverage): ReadonlyArray<string> => [
  ...Object.entries(transitions).flatMap(([cause, { to }]) =>
    to.flatMap((step) =>
      Object.keys(rows).some((row) => row.startsWith(`${cause}: `) && row.endsWith(`→ ${step}`))
        ? []
        : [`${cause} → ${step}`]
    )
  ),
  ...Object.entries(questions).flatMap(([origin, { at }]) =>
    at.flatMap((step) => (`${origin} at ${step}` in asked ? [] : [`question ${origin} at ${step}`]))
  )
]

const table = (title: string, counts: Counts): string =>
  [
    `${title}:`,
    ...Object.entries(counts)
      .toSorted((one, other) => other[1] - one[1])
      .map(([name, times]) => `  ${times} ${name}`)
  ].join("\n")

export const coverageText = (coverage: Coverage): string => {
  const { ends, faults, kills, questions: asked, rows, steps, stories, virtualMs } = coverage
  const missing = rowsMissing(coverage)
  return [
    `${stories} stories, ${steps} steps, ${Math.round(virtualMs / 3_600_000)} virtual hours, ${kills} kills`,
    table("runs", ends),
    table("faults that happened", faults),
    table("rows of the run machine", rows),
    table("questions", asked),
    `not reached: ${missing.length === 0 ? "nothing" : missing.join(", ")}`
  ].join("\n")
}
