/** Reading dead letters, sending them again, and removing them. */
import { decodeMeta, subjects as subjectsOf } from "@reprise/protocol"
import { Clock, Effect, Result, Schema } from "effect"
import type { ActorSettings } from "../ActorConfig.ts"
import { type BrokerShape, streamOf } from "../broker/Broker.ts"
import type { BrokerFault, BrokerFull } from "../broker/faults.ts"
import { DeadLetter } from "../DeadLetter.ts"

/** A dead letter with its place among them; `content` is undefined when it cannot be read. */
export interface StoredDeadLetter {
  readonly sequence: number
  /** When it was stored, ISO 8601. */
  readonly time: string
  readonly content: DeadLetter | undefined
}

/** The message of a dead letter cannot be sent again, or not yet. */
export class NotReplayable extends Schema.TaggedError<NotReplayable>()("NotReplayable", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

export interface DeadLetters {
  /** Messages that could not be handled, oldest first, after a sequence if given. */
  readonly deadLetters: (after?: number) => Effect.Effect<ReadonlyArray<StoredDeadLetter>, BrokerFault>
  /**
   * Sends the message again to where it came from, with its id, and removes the dead letter. An event goes to all who
   * read it; those that have handled it know it by its id.
   */
  readonly replayDeadLetter: (letter: StoredDeadLetter) => Effect.Effect<void, NotReplayable | BrokerFault | BrokerFull>
  readonly dropDeadLetter: (sequence: number) => Effect.Effect<void, BrokerFault>
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(DeadLetter))

/** The streams drop an id that they have seen in this time (docs/design/protocol.md#subjects-and-streams). */
const idsKnownForMs = 10 * 60_000

/** The message as it is sent again at `nowMs`. */
export const replayOf = ({ content, time }: StoredDeadLetter, nowMs: number) => {
  if (content === undefined) return Result.fail(new NotReplayable({ reason: "The dead letter itself cannot be read." }))
  const { body, headers, stream, subject } = content
  const meta = decodeMeta((name) => headers[name] ?? "")
  if (Result.isFailure(meta) || streamOf(subject) !== stream) {
    return Result.fail(new NotReplayable({ reason: "Its envelope cannot be read, so nobody could handle it." }))
  }
  const knownUntil = Date.parse(time) + idsKnownForMs
  if (nowMs < knownUntil) {
    const until = new Date(knownUntil).toISOString()
    return Result.fail(new NotReplayable({ reason: `The broker takes it for a repeat, and drops it, until ${until}.` }))
  }
  const dueAt = stream === "timers" ? { dueAt: new Date(nowMs).toISOString() } : {}
  return Result.succeed({ subject, body, meta: meta.success, ...dueAt })
}

export const makeDeadLetters = (broker: BrokerShape, { prefix }: ActorSettings): DeadLetters => ({
  deadLetters: Effect.fn("Messenger.deadLetters")(function* (after = 0) {
    const stored = yield* broker.read("dead", subjectsOf(prefix).deads(), after)
    return yield* Effect.forEach(stored, ({ body, header, sequence }) =>
      Effect.catchTag(body, "BodyLost", () => Effect.succeed("")).pipe(
        Effect.map(
          (text): StoredDeadLetter => ({
            sequence,
            time: header("ce-time"),
            content: Result.getOrUndefined(decode(text))
          })
        )
      )
    )
  }),
  replayDeadLetter: Effect.fn("Messenger.replayDeadLetter")(function* (letter) {
    const message = yield* Effect.fromResult(replayOf(letter, yield* Clock.currentTimeMillis))
    yield* broker.publish([message])
    yield* broker.remove("dead", letter.sequence)
  }),
  dropDeadLetter: (sequence) => broker.remove("dead", sequence)
})
