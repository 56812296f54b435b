/** Gauges of what is stored: runs by status, and open questions. The service whose actors they are looks now and then. */
import { EscalationView, RunStatus, RunView } from "@reprise/protocol"
import { Clock, Effect, Layer, Option, Schedule, Schema, Struct } from "effect"
import { Broker } from "../broker/Broker.ts"
import { readView } from "../runtime/views.ts"
import { record, type Sample, sample } from "./metrics.ts"

const lookEvery = "15 seconds"

const Run = RunView.mapFields(Struct.pick(["status"]))
const Question = EscalationView.mapFields(Struct.pick(["state", "raisedAt"]))
const readRun = Schema.decodeUnknownOption(Run)
const readQuestion = Schema.decodeUnknownOption(Question)

/** Every status has a value: what is not told keeps its last one. */
export const runSamples = (runs: ReadonlyArray<typeof Run.Type>): ReadonlyArray<Sample> =>
  RunStatus.literals.map((status) =>
    sample("reprise_runs", { status }, runs.filter((run) => run.status === status).length)
  )

export const questionSamples = (
  questions: ReadonlyArray<typeof Question.Type>,
  nowMs: number
): ReadonlyArray<Sample> => {
  const open = questions.filter(({ state }) => state === "open")
  const oldestMs = Math.min(nowMs, ...open.map(({ raisedAt }) => Date.parse(raisedAt)))
  return [
    sample("reprise_questions_open", {}, open.length),
    sample("reprise_oldest_question_seconds", {}, (nowMs - oldestMs) / 1_000)
  ]
}

const look = Effect.fnUntraced(function* (service: "orchestrator" | "gate") {
  const { views } = yield* Broker
  const stored = yield* views.list(service)
  const read = <A>(decode: (view: unknown) => Option.Option<A>) =>
    stored.flatMap(({ value }) => Option.toArray(decode(readView(value)?.view)))
  return service === "orchestrator"
    ? runSamples(read(readRun))
    : questionSamples(read(readQuestion), yield* Clock.currentTimeMillis)
})

/** Looks until the scope closes. What cannot be asked now keeps its last value. */
export const storedMetrics = (service: string): Layer.Layer<never, never, Broker> =>
  service === "orchestrator" || service === "gate"
    ? Layer.effectDiscard(
        look(service).pipe(
          Effect.map((samples) => samples.forEach(record)),
          Effect.ignore,
          Effect.repeat(Schedule.spaced(lookEvery)),
          Effect.forkScoped
        )
      )
    : Layer.empty
