/** Tests of an actor's pure functions, without a broker: given a history, when an input comes, then these events. */
import assert from "node:assert/strict"
import { Key, type PublicEvent, subjects } from "@reprise/protocol"
import { Result, Schema } from "effect"
import type { Actor, AnyOutgoing, Delivery, Outgoing, Tagged } from "./Actor.ts"
import { journalled } from "./runtime/outbox.ts"

const someDelivery: Delivery = { id: "message-1", key: Key.make("key-1"), now: "2026-01-01T00:00:00.000Z" }

/** Asserts that nothing of a value is lost when it is written as JSON and read again. */
const assertReadable = <A>(schema: Schema.Codec<A, unknown>) => {
  const text = Schema.fromJsonString(schema)
  const write = Schema.encodeSync(text)
  const read = Schema.decodeSync(text)
  return (value: A) => assert.deepStrictEqual(read(write(value)), value)
}

/** Asserts that nothing of a view is lost when it is stored: it has no field that is there and undefined. */
const assertStorable = (view: unknown): void => {
  if (view !== undefined) assert.deepStrictEqual(JSON.parse(JSON.stringify(view)), view)
}

/**
 * An actor with this history. Fails when an event or a command does not survive its schema: the journal would lose it.
 * Fails, too, when the actor would never be given the input: it is no command, and no event to which it subscribes; and
 * when what it sends does not fit its contract, or its view cannot be stored. `work`: what its worker reads.
 *
 * @example
 * given(escalationActor)([raised]).when(answer).then([answered])
 * given(escalationActor)([raised, answered]).when(answer).refused(/is closed/)
 */
export const given =
  <State, Input extends Tagged, Event extends Tagged, Work extends Tagged>(
    actor: Actor<State, Input, Event, Work>,
    work?: Schema.Codec<Work, unknown>
  ) =>
  (history: ReadonlyArray<Event>) => {
    const assertStored = assertReadable(actor.journal)
    const isCommand = Schema.is(actor.commands)
    const assertSent = assertReadable(actor.commands)
    const isSubscribed = ({ _tag }: Tagged) => actor.subscription?.types.some((type) => type === _tag) === true
    const assertWork = work === undefined ? undefined : assertReadable(work)
    const assertFits = (key: Key, outgoing: Outgoing<Exclude<Input, PublicEvent>, Work>) => {
      journalled({ service: actor.service, key, source: "test", subjects: subjects("test") }, undefined, outgoing)
      if (outgoing._tag === "SetTimer") assertSent(outgoing.command)
      if (outgoing._tag === "RequestWork") assertWork?.(outgoing.work)
    }
    history.forEach(assertStored)
    const before = history.reduce(actor.evolve, actor.initial)
    return {
      /** The state that the history led to. */
      state: before,
      when: (input: Input, delivery: Partial<Delivery> = {}) => {
        const delivered = { ...someDelivery, ...delivery }
        if (isCommand(input)) assertSent(input)
        else assert.ok(isSubscribed(input), `The actor takes no '${input._tag}' like this.`)
        const outcome = actor.decide(before, input, delivered)
        const events = Result.getOrElse(outcome, (): ReadonlyArray<Event> => [])
        events.forEach(assertStored)
        const after = events.reduce(actor.evolve, before)
        const outgoing = events.length === 0 ? [] : actor.react(after, events, delivered)
        for (const one of outgoing) assertFits(delivered.key, one)
        assertStorable(actor.view?.(after))
        const sent = (): ReadonlyArray<AnyOutgoing> => outgoing
        return {
          outcome,
          /** The state afterwards. */
          state: after,
          /** The messages that are sent because of it. */
          sent: sent(),
          /** Asserts that exactly these events were decided. */
          // biome-ignore lint/suspicious/noThenProperty: the word of given, when, then; it is never awaited.
          then: (expected: ReadonlyArray<Event>) => assert.deepStrictEqual(outcome, Result.succeed(expected)),
          /** Asserts that exactly these messages are sent, in this order. */
          sends: (expected: ReadonlyArray<AnyOutgoing>) => assert.deepStrictEqual(sent(), expected),
          /** The public events among them. */
          published: sent().flatMap(
            (one): ReadonlyArray<PublicEvent> => (one._tag === "PublishEvent" ? [one.event] : [])
          ),
          /** Asserts that the input was refused, with this reason or one that matches. */
          refused: (reason: string | RegExp) => {
            assert.ok(Result.isFailure(outcome), `Accepted with ${JSON.stringify(events)}`)
            const found = outcome.failure.reason
            if (typeof reason === "string") assert.equal(found, reason)
            else assert.match(found, reason)
          }
        }
      }
    }
  }
