import { appendFileSync } from "node:fs"
import { Effect, Option, Stream, SubscriptionRef } from "effect"
import type { CallRecord } from "./CallRecord.ts"

/** Keeps the calls in the order of their arrival, in memory and, with a path, as JSON lines in a file. */
export const makeRecorder = Effect.fnUntraced(function* (path: string | undefined) {
  const calls = yield* SubscriptionRef.make<ReadonlyArray<CallRecord>>([])
  return {
    calls: SubscriptionRef.get(calls),

    /** Numbers the call and keeps it. The line is in the file before the call is answered. */
    add: (call: Omit<CallRecord, "sequence">) =>
      SubscriptionRef.update(calls, (all) => {
        const record = { sequence: all.length + 1, ...call }
        if (path !== undefined) appendFileSync(path, `${JSON.stringify(record)}\n`)
        return [...all, record]
      }),

    /** The first call, past or to come, for which the condition holds. */
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
