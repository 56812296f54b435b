/** Two people who answer each question at the same time, each over a connection of their own, and look at it. */
import { type Messenger, Refused } from "@reprise/actor"
import { type EscalationId, type EscalationOption, type PublicEvent, RunId, to } from "@reprise/protocol"
import type { Model, Operation } from "@reprise/testing"
import { type Context, Effect } from "effect"
import { hashOf } from "../simulation/machine/Random.ts"
import type { Said } from "../simulation/parts/human.ts"

type Messages = Context.Service.Shape<typeof Messenger>

/** What people do to a question: they answer or read it; and the run may withdraw it. */
export type Use =
  | { readonly _tag: "Answer"; readonly via: string }
  | { readonly _tag: "Look" }
  | { readonly _tag: "Withdraw" }
/** An answer is taken, or too late; a look shows whose answer was taken. */
export type Seen = "taken" | "closed" | { readonly shows: string }

/** A question is open until the first answer, or until it is withdrawn. */
export const question: Model<string, Use, Seen> = {
  initial: "open",
  step: (state, use, seen) => {
    if (use._tag === "Look") return typeof seen === "object" && seen.shows !== state ? undefined : state
    const next = state === "open" ? (use._tag === "Answer" ? use.via : "withdrawn") : state
    if (seen === "taken" && state !== "open") return undefined
    return seen === "closed" && state === "open" ? undefined : next
  },
  show: (state) => state
}

export interface People {
  readonly words: ReadonlyArray<Said>
  /** What was done to each question, and what came of it. */
  readonly histories: ReadonlyMap<string, ReadonlyArray<Operation<Use, Seen>>>
  readonly hear: (event: PublicEvent) => Effect.Effect<void>
  readonly isBusy: () => boolean
}

const choose = (options: ReadonlyArray<EscalationOption>, draw: number): EscalationOption | undefined => {
  const others = options.filter(({ name }) => name !== "abort" && name !== "pause")
  return draw % 23 === 0 || others.length === 0 ? options[draw % options.length] : others[draw % others.length]
}

/** `answers`: then they are gone. */
export const makePeople = (seed: number, messengers: ReadonlyArray<Messages>, answers: number): People => {
  const words: Array<Said> = []
  const histories = new Map<string, Array<Operation<Use, Seen>>>()
  const heard = new Set<string>()
  let asked = 0
  let busy = 0

  const noting = (id: string, input: Use, use: Effect.Effect<Seen | undefined>) =>
    Effect.gen(function* () {
      const calledAt = performance.now()
      const output = yield* use
      histories.get(id)?.push({ input, output, calledAt, returnedAt: performance.now() })
    })

  const look = (messenger: Messages, id: EscalationId) =>
    noting(
      id,
      { _tag: "Look" },
      messenger.show.gate(id).pipe(
        Effect.map(({ state, via }): Seen => ({ shows: state === "answered" ? `${via}` : state })),
        Effect.catch(() => Effect.succeed(undefined))
      )
    )

  const answer = (messenger: Messages, event: Extract<PublicEvent, { _tag: "EscalationRaised" }>, who: number) =>
    Effect.gen(function* () {
      const { escalationId, options, runId } = event
      const draw = hashOf(seed, `${escalationId} ${who}`)
      const option = choose(options, draw)
      if (option === undefined) return
      const via = `person-${who}`
      const speaks = option.guidance === "required" || (option.guidance === "optional" && draw % 3 > 0)
      const text = `Mind word${words.length}x${who}.`
      if (speaks) words.push({ escalationId, choice: option.name, text })
      const guidance = speaks ? { guidance: text } : {}
      const command = to.gate(escalationId).AnswerEscalation({ choice: option.name, by: "human", via, ...guidance })
      const id = `${escalationId}.${via}`
      yield* look(messenger, escalationId)
      const asking = messenger.ask(command, { subject: runId, id, timeout: "20 seconds" }).pipe(
        Effect.map((outcome): Seen => ("via" in outcome && outcome.via === via ? "taken" : "closed")),
        Effect.catch((error) => Effect.succeed(error instanceof Refused ? ("closed" as const) : undefined))
      )
      yield* noting(escalationId, { _tag: "Answer", via }, asking)
      yield* look(messenger, escalationId)
    })

  const occupied = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.suspend(() => {
      busy += 1
      return Effect.ensuring(
        Effect.ignore(effect),
        Effect.sync(() => {
          busy -= 1
        })
      )
    })

  return {
    words,
    histories,
    isBusy: () => busy > 0,
    hear: (event) => {
      if (event._tag === "RunPaused") {
        const [messenger] = messengers
        return messenger === undefined
          ? Effect.void
          : occupied(Effect.eventually(messenger.send(to.orchestrator(RunId.make(event.runId)).ResumeRun())))
      }
      if (event._tag !== "EscalationRaised" || heard.has(event.escalationId)) return Effect.void
      heard.add(event.escalationId)
      asked += 1
      if (asked > answers) return Effect.void
      const now = performance.now()
      histories.set(event.escalationId, [
        { input: { _tag: "Withdraw" }, output: undefined, calledAt: now, returnedAt: now }
      ])
      const both = messengers.map((messenger, who) => answer(messenger, event, who))
      return occupied(Effect.all(both, { concurrency: "unbounded", discard: true }))
    }
  }
}
