/**
 * What services measure of themselves (docs/operations.md#metrics-and-traces). Dashboards and alerts rest on these names and labels.
 * A label has few values: no ids, and no words of people or agents.
 */
import { Context, Metric } from "effect"

interface MetricSpec {
  readonly kind: "counter" | "gauge" | "histogram"
  readonly labels: ReadonlyArray<string>
  readonly help: string
}

export const metrics = {
  reprise_inputs_total: {
    kind: "counter",
    labels: ["service", "outcome"],
    help: "Inputs that actors handled: decided, refused, or without effect."
  },
  reprise_input_seconds: {
    kind: "histogram",
    labels: ["service"],
    help: "From taking an input to the last message that it led to, in seconds."
  },
  reprise_redeliveries_total: {
    kind: "counter",
    labels: ["service", "stream"],
    help: "Messages that the broker delivered again."
  },
  reprise_dead_letters_total: {
    kind: "counter",
    labels: ["service"],
    help: "Messages stored as dead letters because they could not be handled."
  },
  reprise_pending_messages: {
    kind: "gauge",
    labels: ["service", "stream"],
    help: "Messages that wait for a service: stored, and not delivered to any of its replicas yet."
  },
  reprise_unacknowledged_messages: {
    kind: "gauge",
    labels: ["service", "stream"],
    help: "Messages that were delivered to a service and not done yet; of timers, those that are not due."
  },
  reprise_runs: { kind: "gauge", labels: ["status"], help: "Runs that are stored, by status." },
  reprise_runs_started_total: { kind: "counter", labels: [], help: "Runs that began." },
  reprise_runs_ended_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Runs that ended: completed, failed or aborted."
  },
  reprise_steps_total: { kind: "counter", labels: ["step"], help: "Steps that began, by the step's name." },
  reprise_step_seconds: {
    kind: "histogram",
    labels: ["step"],
    help: "How long a step took, in seconds, with its waits. Only steps that began and ended in the same process count."
  },
  reprise_questions_open: { kind: "gauge", labels: [], help: "Questions that wait for a human." },
  reprise_oldest_question_seconds: {
    kind: "gauge",
    labels: [],
    help: "Since when the oldest open question waits, in seconds; 0 without one."
  },
  reprise_questions_total: {
    kind: "counter",
    labels: ["outcome"],
    help: "Questions that were raised, answered, and withdrawn."
  },
  reprise_sessions_total: {
    kind: "counter",
    labels: ["use"],
    help: "Sessions of agents that were created, reused and replaced."
  },
  reprise_turns_total: {
    kind: "counter",
    labels: ["role", "outcome"],
    help: "Turns that ended: completed, or the kind of their failure. The roles are author, reviewer and fixer."
  },
  reprise_turn_seconds: { kind: "histogram", labels: ["role"], help: "How long a turn took, in seconds." },
  reprise_tokens_total: {
    kind: "counter",
    labels: ["role", "kind"],
    help: "Tokens that agents used: input, output, reasoning, cacheRead, cacheWrite."
  },
  reprise_cost_dollars_total: {
    kind: "counter",
    labels: ["role"],
    help: "What agents cost, in US dollars as their runtimes tell it."
  }
} as const satisfies Record<string, MetricSpec>

export type MetricName = keyof typeof metrics
type Labels<Name extends MetricName> = { readonly [Label in (typeof metrics)[Name]["labels"][number]]: string }

/** One measurement: what a counter grows by, what a gauge is now, or one value of a histogram. */
export interface Sample {
  readonly name: MetricName
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export const sample = <Name extends MetricName>(name: Name, labels: Labels<Name>, value = 1): Sample => ({
  name,
  labels,
  value
})

const secondBoundaries = Metric.boundariesFromIterable([0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1_800, 7_200])

const make = (name: MetricName, attributes: Readonly<Record<string, string>>): Metric.Metric<number, unknown> => {
  const { help: description, kind } = metrics[name]
  switch (kind) {
    case "counter":
      return Metric.counter(name, { description, attributes, incremental: true })
    case "gauge":
      return Metric.gauge(name, { description, attributes })
    case "histogram":
      return Metric.histogram(name, { description, attributes, boundaries: secondBoundaries })
  }
}

const series = new Map<string, Metric.Metric<number, unknown>>()
/** The registry of the process, which every service in it shares. */
const registry = Context.empty()

/** Records at once and without an effect: it costs an input some microseconds, and changes no schedule. */
export const record = ({ labels, name, value }: Sample): void => {
  const key = `${name} ${Object.values(labels).join(" ")}`
  const known = series.get(key) ?? make(name, labels)
  series.set(key, known)
  known.updateUnsafe(value, registry)
}
