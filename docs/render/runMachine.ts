/** The run machine as a diagram and as tables, from the orchestrator's table of transitions. */
import { endings, questions, transitions } from "@reprise/orchestrator/transitions"
import { code, generated, page, table } from "./markdown.ts"

type Sources = (typeof transitions)[keyof typeof transitions]["from"] | (typeof endings)[keyof typeof endings]["from"]

/** The diagram's names for states that are not steps. Mermaid has a start and an end, but allows no blank in a name. */
const stateOf = (source: string): string => (source === "start" ? "[*]" : source)
const waiting = "QUESTION"
const paused = "PAUSED"

const sourcesOf = (from: Exclude<Sources, "itself">): ReadonlyArray<string> =>
  from === "question" ? [waiting] : from === "pause" ? [paused] : from.map(stateOf)

interface Arrow {
  readonly from: string
  readonly to: string
  readonly label: string
}

const arrowsOf = (from: ReadonlyArray<string>, to: ReadonlyArray<string>, label: string): ReadonlyArray<Arrow> =>
  from
    .flatMap((start) => to.map((end) => ({ from: start, to: end, label })))
    // A run that ends before its first step has no arrow in the diagram.
    .filter((arrow) => arrow.from !== "[*]" || arrow.to !== "[*]")

/** One arrow for each pair of states, with the names of all transitions between them. */
const lines = (arrows: ReadonlyArray<Arrow>): ReadonlyArray<string> => {
  const pairs = Map.groupBy(arrows, ({ from, to }) => `${from} --> ${to}`)
  return [...pairs].map(([pair, all]) => `    ${pair}: ${all.map(({ label }) => label).join(", ")}`)
}

const diagram = (arrows: ReadonlyArray<Arrow>): string =>
  ["```mermaid", "stateDiagram-v2", ...lines(arrows), "```"].join("\n")

const byItself = Object.entries(transitions).filter(([, { from }]) => from !== "question" && from !== "pause")
const byHumans = Object.entries(transitions).filter(([, { from }]) => from === "question" || from === "pause")

const ways = (entries: ReadonlyArray<readonly [string, (typeof transitions)[keyof typeof transitions]]>) =>
  entries.flatMap(([cause, { from, to }]) =>
    from === "itself" ? to.flatMap((step) => arrowsOf([step], [step], cause)) : arrowsOf(sourcesOf(from), to, cause)
  )

const ends = Object.entries(endings).map(([ending, { from, when }]) => ({ ending, from: sourcesOf(from), when }))

const onItsOwn = [
  ...ways(byItself),
  ...ends.filter(({ from }) => !from.includes(waiting)).flatMap(({ ending, from }) => arrowsOf(from, ["[*]"], ending))
]

const withHumans = [
  ...Object.entries(questions).flatMap(([origin, { at }]) => arrowsOf(at, [waiting], origin)),
  ...ways(byHumans),
  ...ends.filter(({ from }) => from.includes(waiting)).flatMap(({ ending, from }) => arrowsOf(from, ["[*]"], ending))
]

const steps = (names: ReadonlyArray<string>) => names.map(code).join(", ")

/** A state of the diagram, in words. */
const place = (source: string): string =>
  source === "[*]" ? "the start" : source === waiting ? "a question" : source === paused ? "a pause" : code(source)

export const runMachinePage = (): string =>
  page([
    generated("services/orchestrator/src/run/transitions.ts"),
    "# The run machine",
    "What a run does, step by step. Every arrow is public: the event `StepStarted` names the step and, as its `cause`, the arrow that led there. A question at the gate is published as `EscalationRaised`, with its `origin`. These tables are the ones that the machine checks: it records no step, question or end that they lack.",
    "## Without a human",
    diagram(onItsOwn),
    "## When a human is needed",
    "A step that cannot continue waits with one open question. In auto mode there is no question: the step is retried, and when no retry is left the run is aborted with all reasons. In auto mode a run waits for a human only at a checkpoint that neither a recommended option nor the commands of `gates.verify` can resolve. A run that was paused continues where it was; a turn or a review that the pause interrupted goes on in its session.",
    diagram(withHumans),
    "## Causes",
    table(
      ["cause", "from", "to", "when"],
      Object.entries(transitions).map(([cause, { from, to, when }]) => [
        code(cause),
        from === "itself" ? "the same step" : sourcesOf(from).map(place).join(", "),
        steps(to),
        when
      ])
    ),
    "## Questions",
    table(
      ["origin", "steps that wait", "when"],
      Object.entries(questions).map(([origin, { at, when }]) => [code(origin), steps(at), when])
    ),
    "## Ends",
    "In addition, a human may abort a run at any time. A run that has ended never changes again.",
    table(
      ["end", "from", "when"],
      ends.map(({ ending, from, when }) => [code(ending), from.map(place).join(", "), when])
    )
  ])
