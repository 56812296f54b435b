/**
 * What services measure of themselves (docs/operations.md#metrics-and-traces). Dashboards and alerts rest on these names and labels.
 * A label has few values: no ids, and no words of people or agents.
 */
import { FailureKind, RunStatus, ServiceName, Step } from "@reprise/protocol"
import { Context, Metric } from "effect"
import type { ConsumerSpec } from "../broker/Broker.ts"

interface MetricSpec {
  readonly kind: "counter" | "gauge" | "histogram"
  /** Each label with every value that it has; a service measures no other. */
  readonly labels: Readonly<Record<string, ReadonlyArray<string>>>
  readonly help: string
}

const service = ServiceName.literals
const stream = ["commands", "work", "events", "timers"] as const satisfies ReadonlyArray<ConsumerSpec["stream"]>
const step = Step.literals
/** Earlier versions did not tell the role of a turn. */
const role = ["author", "reviewer", "fixer", "unknown"] as const
export const tokenKinds = ["input", "output", "reasoning", "cacheRead", "cacheWrite"] as const

export const metrics = {
  reprise_inputs_total: {
    kind: "counter",
    labels: { service, outcome: ["decided", "refused", "nothing"] },
    help: "Inputs that actors handled: decided, refused, or without effect."
  },
  reprise_input_seconds: {
    kind: "histogram",
    labels: { service },
    help: "From taking an input to the last message that it led to, in seconds."
  },
  reprise_redeliveries_total: {
    kind: "counter",
    labels: { service, stream },
    help: "Messages that the broker delivered again."
  },
  reprise_dead_letters_total: {
    kind: "counter",
    labels: { service },
    help: "Messages stored as dead letters because they could not be handled."
  },
  reprise_pending_messages: {
    kind: "gauge",
    labels: { service, stream },
    help: "Messages that wait for a service: stored, and not delivered to any of its replicas yet."
  },
  reprise_unacknowledged_messages: {
    kind: "gauge",
    labels: { service, stream },
    help: "Messages that were delivered to a service and not done yet; of timers, those that are not due."
  },
  reprise_runs: { kind: "gauge", labels: { status: RunStatus.literals }, help: "Runs that are stored, by status." },
  reprise_runs_started_total: { kind: "counter", labels: {}, help: "Runs that began." },
  reprise_runs_ended_total: {
    kind: "counter",
    labels: { outcome: ["completed", "failed", "aborted"] },
    help: "Runs that ended: completed, failed or aborted."
  },
  reprise_steps_total: { kind: "counter", labels: { step }, help: "Steps that began, by the step's name." },
  reprise_step_seconds: {
    kind: "histogram",
    labels: { step },
    help: "How long a step took, in seconds, with its waits. It is measured when the step ends."
  },
  reprise_questions_open: { kind: "gauge", labels: {}, help: "Questions that wait for a human." },
  reprise_oldest_question_seconds: {
    kind: "gauge",
    labels: {},
    help: "Age of the oldest open question, in seconds; 0 without one."
  },
  reprise_questions_total: {
    kind: "counter",
    labels: { outcome: ["raised", "answered", "withdrawn"] },
    help: "Questions that were raised, answered, and withdrawn."
  },
  reprise_sessions_total: {
    kind: "counter",
    labels: { use: ["created", "reused", "replaced"] },
    help: "Sessions of agents that were created, reused and replaced."
  },
  reprise_turns_total: {
    kind: "counter",
    labels: { role, outcome: ["completed", ...FailureKind.literals] },
    help: "Turns that ended: completed, or the kind of their failure. The roles are author, reviewer and fixer."
  },
  reprise_turn_seconds: { kind: "histogram", labels: { role }, help: "How long a turn took, in seconds." },
  reprise_tokens_total: {
    kind: "counter",
    labels: { role, kind: tokenKinds },
    help: "Tokens that agents used: input, output, reasoning, cacheRead, cacheWrite."
  },
  reprise_cost_dollars_total: {
    kind: "counter",
    labels: { role },
    help: "What agents cost, in US dollars as their runtimes tell it."
  }
} as const satisfies Record<string, MetricSpec>

export type MetricName = keyof typeof metrics
type Values<Name extends MetricName> = (typeof metrics)[Name]["labels"]
type Labels<Name extends MetricName> = {
  readonly [Label in keyof Values<Name>]: Values<Name>[Label] extends ReadonlyArray<infer Value extends string>
    ? Value
    : never
}

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

const secondBoundaries = Metric.boundariesFromIterable([
  0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1_800, 7_200, 28_800, 86_400
])

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
