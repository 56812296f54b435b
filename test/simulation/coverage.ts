/** What stories have shown: rows of the run machine, questions, messages, faults that happened, and how runs ended. */
import { questions, transitions } from "@reprise/orchestrator"
import { contracts } from "@reprise/protocol"
import type { Histories } from "./checks/histories.ts"
import type { Story } from "./simulate.ts"
import { deeds, type Fault, misbehaviours, misjudgements } from "./world/faults.ts"

export type Counts = Record<string, number>

const tables = ["rows", "questions", "steps", "messages", "faults", "ends"] as const
type Table = (typeof tables)[number]

export interface Coverage extends Readonly<Record<Table, Counts>> {
  stories: number
  storySteps: number
  virtualMs: number
  kills: number
}

export const noCoverage = (): Coverage => ({
  ...{ stories: 0, storySteps: 0, virtualMs: 0, kills: 0 },
  ...{ rows: {}, questions: {}, steps: {}, messages: {}, faults: {}, ends: {} }
})

const count = (counts: Counts, name: string, more = 1): void => {
  counts[name] = (counts[name] ?? 0) + more
}

const faultName = (fault: Fault): string => {
  if ("does" in fault) return `${fault._tag} ${fault.does}`
  return fault._tag === "Answer" ? `Answer ${fault.how}` : fault._tag
}

export const addStory = (coverage: Coverage, story: Story, { orchestrator }: Histories): void => {
  coverage.stories += 1
  coverage.storySteps += story.steps
  coverage.virtualMs += story.elapsedMs
  coverage.kills += story.kills
  for (const fault of story.happened) count(coverage.faults, faultName(fault))
  for (const state of story.progress.states.values())
    count(coverage.ends, state._tag === "Ended" ? state.how : state._tag)
  for (const { kind, type } of story.record) if (kind !== "journal") count(coverage.messages, `${kind} ${type}`)
  for (const { steps } of orchestrator.values()) {
    for (const { events } of steps) {
      for (const event of events) {
        if (event._tag === "QuestionAsked")
          count(coverage.questions, `${event.question.ask.origin} at ${event.question.ask.step}`)
        if (event._tag !== "StepStarted") continue
        count(coverage.rows, `${event.cause} → ${event.step}`)
        count(coverage.steps, event.step)
      }
    }
  }
}

export const addCoverage = (all: Coverage, more: Coverage): void => {
  all.stories += more.stories
  all.storySteps += more.storySteps
  all.virtualMs += more.virtualMs
  all.kills += more.kills
  for (const table of tables) for (const [name, times] of Object.entries(more[table])) count(all[table], name, times)
}

/** Everything that could be counted, so that what was never seen is known. */
const possible: Readonly<Partial<Record<Table, ReadonlyArray<string>>>> = {
  rows: Object.entries(transitions).flatMap(([cause, { to }]) => to.map((step) => `${cause} → ${step}`)),
  questions: Object.entries(questions).flatMap(([origin, { at }]) => at.map((step) => `${origin} at ${step}`)),
  messages: Object.values(contracts).flatMap(({ commands, events }) => [
    ...Object.keys(commands.cases).map((type) => `command ${type}`),
    ...Object.keys(events.cases).map((type) => `event ${type}`)
  ]),
  faults: [
    ...misbehaviours.map((does) => `Author ${does}`),
    ...misjudgements.map((does) => `Reviewer ${does}`),
    ...deeds.map((does) => `Human ${does}`)
  ]
}

/** What no story has shown, by table. */
export const neverSeen = (coverage: Coverage): ReadonlyArray<readonly [Table, ReadonlyArray<string>]> =>
  tables.flatMap((table) => {
    const missing = (possible[table] ?? []).filter((name) => !(name in coverage[table]))
    return missing.length === 0 ? [] : [[table, missing] as const]
  })

const titles: Readonly<Record<Table, string>> = {
  rows: "rows of the run machine",
  questions: "questions",
  steps: "steps",
  messages: "messages",
  faults: "faults that happened",
  ends: "runs"
}

/** On a few lines. */
export const summaryText = (coverage: Coverage): string => {
  const { kills, stories, storySteps, virtualMs } = coverage
  return [
    `${stories} stories, ${storySteps} steps, ${Math.round(virtualMs / 3_600_000)} virtual hours, ${kills} kills`,
    ...neverSeen(coverage).map(([table, names]) => `${titles[table]} never seen: ${names.join(", ")}`)
  ].join("\n")
}

/** Everything that was counted. */
export const coverageText = (coverage: Coverage): string =>
  tables
    .map((table) => {
      const counted = Object.entries(coverage[table]).toSorted((one, other) => other[1] - one[1])
      return [`${titles[table]}:`, ...counted.map(([name, times]) => `  ${times} ${name}`)].join("\n")
    })
    .join("\n")
