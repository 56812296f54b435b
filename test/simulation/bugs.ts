/**
 * Planted bugs: mistakes that the product could make, put between a service and what the service uses. None of them is in
 * the product; each must be found (`plantedBugs.int.test.ts`).
 */
import type { Message } from "@reprise/actor"
import { Effect, Result } from "effect"
import { hashOf } from "./machine/Random.ts"
import type { Seam } from "./parts/Cluster.ts"
import type { Actors } from "./parts/services.ts"
import type { Bug } from "./simulate.ts"

type Run = Actors["orchestrator"]
type Gate = Actors["gate"]
type RunState = Parameters<Run["evolve"]>[0]
type RunEvent = Parameters<Run["evolve"]>[1]

/** About one in so many, always the same ones. */
const oneIn = (n: number, id: string) => hashOf(0, id) % n === 0

/** Changes the messages that a process publishes. */
const publishing =
  (change: (messages: ReadonlyArray<Message>, of: Parameters<Seam>[1]) => ReadonlyArray<Message>): Seam =>
  (broker, of) => ({ ...broker, publish: (messages) => broker.publish(change(messages, of)) })

const withGate =
  (change: (gate: Gate) => Gate) =>
  (actors: Actors): Actors => ({ ...actors, gate: change(actors.gate) })
const withRun =
  (change: (run: Run) => Run) =>
  (actors: Actors): Actors => ({
    ...actors,
    orchestrator: change(actors.orchestrator)
  })

/** The run as it evolves, changed after each event. */
const evolving = (change: (after: RunState, event: RunEvent, before: RunState) => RunState) =>
  withRun((run) => ({ ...run, evolve: (state, event) => change(run.evolve(state, event), event, state) }))

const isEntry = ({ subject }: Message) => subject.includes(".journal.")

export const bugs: Readonly<Record<string, Bug>> = {
  "a publish drops its last message": {
    seam: publishing((messages) =>
      messages.length > 1 && oneIn(40, messages[0]?.meta.id ?? "") ? messages.slice(0, -1) : messages
    )
  },
  "a receipt is forgotten": {
    seam: (broker) => ({
      ...broker,
      append: (message, expected) => {
        if (!isEntry(message)) return broker.append(message, expected)
        const { input, ...entry } = JSON.parse(message.body)
        return broker.append(
          { ...message, body: JSON.stringify({ ...entry, input: { ...input, id: `${input.id}-` } }) },
          expected
        )
      }
    })
  },
  "a timer comes early": {
    seam: publishing((messages) =>
      messages.map((message) =>
        message.dueAt === undefined
          ? message
          : { ...message, dueAt: new Date(Date.parse(message.dueAt) - 300_000).toISOString() }
      )
    )
  },
  "a question takes a second answer": {
    actors: withGate((gate) => ({
      ...gate,
      decide: (state, input, delivery) => {
        const isLate = input._tag === "AnswerEscalation" && state.status === "answered"
        const open = isLate
          ? { status: "open" as const, question: state.question, raisedAt: state.raisedAt, reminders: 0 }
          : state
        return gate.decide(open, input, delivery)
      }
    }))
  },
  "guidance is cleared when a step begins": {
    actors: evolving((after, event) =>
      event._tag === "StepStarted" && after._tag === "Run" && after.ledger.length > 0
        ? { ...after, ledger: after.ledger.map((entry) => ({ ...entry, text: "" })) }
        : after
    )
  },
  "guidance is told again and again": {
    actors: evolving((after) =>
      after._tag === "Run" && after.ledger.some(({ given }) => given.length > 0)
        ? { ...after, ledger: after.ledger.map((entry) => ({ ...entry, given: [] })) }
        : after
    )
  },
  "what a killed process had decided is not sent after its restart": {
    seam: (broker) => {
      const own = new Set<string>()
      return {
        ...broker,
        append: (message, expected) =>
          Effect.tap(broker.append(message, expected), (sequence) =>
            Effect.sync(() => own.add(`${message.subject.split(".").slice(2).join(".")}.${sequence}`))
          ),
        publish: (messages) => {
          const isOfActor = (id: string) => /^[a-z]+\.[^.]+\.\d+\.\d+$/.test(id)
          const mine = messages.filter(({ meta }) => !isOfActor(meta.id) || own.has(meta.id.replace(/\.\d+$/, "")))
          return mine.length === 0 ? Effect.void : broker.publish(mine)
        }
      }
    }
  },
  "a lease is kept": {
    seam: (broker) => ({
      ...broker,
      views: {
        ...broker.views,
        put: (key, value, expected) =>
          key.startsWith("lease.") && JSON.parse(value).free === true
            ? Effect.succeed(expected ?? 0)
            : broker.views.put(key, value, expected)
      }
    })
  },
  "a view that is to be stored later is forgotten": {
    seam: (broker) => ({
      ...broker,
      views: {
        ...broker.views,
        put: (key, value, expected) =>
          key.startsWith("orchestrator.") && (expected ?? 0) > 0 && oneIn(20, value)
            ? Effect.succeed(expected ?? 0)
            : broker.views.put(key, value, expected)
      }
    })
  },
  "a turn is counted twice": {
    actors: withRun((run) => ({
      ...run,
      decide: (state, input, delivery) =>
        Result.map(run.decide(state, input, delivery), (events) =>
          events.flatMap((event) => (event._tag === "TurnCounted" && oneIn(5, event.turnId) ? [event, event] : [event]))
        )
    }))
  },
  "a checkpoint of the plan is passed by": {
    actors: evolving((after, event) =>
      event._tag === "RunRequested" && after._tag === "Run"
        ? {
            ...after,
            phases: after.phases.map((phase) => ({
              ...phase,
              tasks: phase.tasks.map(({ checkpoint: _, ...task }) => task)
            }))
          }
        : after
    )
  },
  "the count of reviews is reset": {
    actors: evolving((after, event) =>
      event._tag === "StepStarted" && after._tag === "Run" && after.phase !== undefined
        ? { ...after, phase: { ...after.phase, verdicts: 0 } }
        : after
    )
  },
  "the count of automatic retries is reset": {
    actors: evolving((after, event) =>
      event._tag === "StepStarted" && after._tag === "Run" && after.phase !== undefined
        ? { ...after, phase: { ...after.phase, autoRetries: [] } }
        : after
    )
  },
  "an answer goes to another run": {
    seam: publishing((messages) =>
      messages.map((message) =>
        message.meta.type.includes("AnswerReceived") && oneIn(3, message.meta.id)
          ? { ...message, subject: message.subject.replace(/r[12]$/, (run) => (run === "r1" ? "r2" : "r1")) }
          : message
      )
    )
  },
  "the watch over sessions is not taken up after a restart": {
    seam: (broker, { restarted, service }) => ({
      ...broker,
      request: (subject, request) =>
        service === "session-manager" && restarted && subject.endsWith(".list")
          ? Effect.succeed(JSON.stringify({ ok: true, data: [] }))
          : broker.request(subject, request)
    })
  },
  "a withdrawn question stays open": {
    seam: publishing((messages) => messages.filter((message) => message.meta.type !== "WithdrawEscalation"))
  },
  "work is acknowledged before it is done": {
    seam: (broker, { service }) => ({
      ...broker,
      pull: (specs, room, take) =>
        broker.pull(specs, room, (delivery) => {
          if (service === "workspace") delivery.ack()
          take(delivery)
        })
    })
  },
  "an input is acknowledged before it is decided": {
    seam: (broker) => ({
      ...broker,
      consume: (spec, take) =>
        broker.consume(spec, (delivery) => {
          delivery.ack()
          take(delivery)
        })
    })
  },
  "a journal is written without looking who wrote before": {
    seam: (broker) => ({
      ...broker,
      append: (message, expected) =>
        Effect.flatMap(broker.last("journal", message.subject), (last) =>
          broker.append(message, last?.sequence ?? expected)
        )
    })
  }
}
