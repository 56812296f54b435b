import { appendFileSync } from "node:fs"
import { Effect, Option, Schema, Stream, SubscriptionRef } from "effect"
import { Usage } from "../player/Reply.ts"
import { Kind, ProtocolName } from "../script/Script.ts"

const Message = Schema.Union([
  Schema.Struct({ role: Schema.Literal("user"), text: Schema.String }),
  Schema.Struct({
    role: Schema.Literal("assistant"),
    text: Schema.String,
    toolCalls: Schema.Array(Schema.Struct({ callId: Schema.String, tool: Schema.String, args: Schema.Unknown }))
  }),
  Schema.Struct({ role: Schema.Literal("tool"), callId: Schema.String, text: Schema.String })
])

/**
 * A call that reached the scripted model, as `GET /control/calls` and the record file show it.
 * `outcome`: `answered` by a rule; `fault`, failed because the script says so; `unmatched` by any rule; `invalid`, when
 * the rule cannot be played or the body does not follow the protocol.
 */
export const CallRecord = Schema.Struct({
  /** 1 for the first call of the server. */
  sequence: Schema.Int,
  /** Time of arrival, ISO 8601 UTC. */
  at: Schema.String,
  protocol: ProtocolName,
  model: Schema.String,
  /** How much the model is to think, in the client's word; "" when it says nothing. */
  effort: Schema.String,
  session: Schema.String,
  role: Schema.String,
  kind: Kind,
  phase: Schema.String,
  cycle: Schema.Int,
  /** `turn` counts the user messages of the conversation, `round` the rounds of tool calls since the newest. */
  turn: Schema.Int,
  round: Schema.Int,
  lastUser: Schema.String,
  system: Schema.String,
  messages: Schema.Array(Message),
  /** The names of the offered tools. */
  tools: Schema.Array(Schema.String),
  /** The name of the rule that matched (`rule 3` for one without a name; "" when none did) and the index of its step. */
  rule: Schema.String,
  step: Schema.Int,
  outcome: Schema.Literals(["answered", "fault", "unmatched", "invalid"]),
  /** Why the call got no reply; "" when it got one. */
  problem: Schema.String,
  usage: Usage
})
export type CallRecord = typeof CallRecord.Type

/** Records calls in the order of their arrival, in memory and, given a path, also as JSON lines in a file. */
export const makeRecorder = Effect.fnUntraced(function* (path: string | undefined) {
  const calls = yield* SubscriptionRef.make<ReadonlyArray<CallRecord>>([])
  return {
    calls: SubscriptionRef.get(calls),

    /** Numbers and records the call. Its line is in the file before the call is answered. */
    add: (call: Omit<CallRecord, "sequence">) =>
      SubscriptionRef.update(calls, (all) => {
        const record = { sequence: all.length + 1, ...call }
        if (path !== undefined) appendFileSync(path, `${JSON.stringify(record)}\n`)
        return [...all, record]
      }),

    /** The first call, past or future, for which the condition holds. */
    first: (condition: (call: CallRecord) => boolean) =>
      SubscriptionRef.changes(calls).pipe(
        Stream.map((all) => all.find(condition)),
        Stream.filter((call) => call !== undefined),
        Stream.runHead,
        Effect.flatMap(Option.match({ onNone: () => Effect.never, onSome: Effect.succeed }))
      )
  }
})

export type Recorder = Effect.Success<ReturnType<typeof makeRecorder>>
