/** How reasons to take less work for any host come together. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream, SubscriptionRef } from "effect"
import { type PullLimit, smallestLimit } from "../src/index.ts"
import { unlessDrained } from "../src/runtime/PullLimit.ts"

const reason = (room: number, changes: Stream.Stream<unknown> = Stream.empty): PullLimit => ({
  available: () => room,
  changes
})
const none: ReadonlySet<never> = new Set()

describe("how much work for any host a worker may pull", () => {
  it.each([
    ["without a reason", [], Number.POSITIVE_INFINITY],
    ["with one that allows some", [Number.POSITIVE_INFINITY, 3], 3],
    ["with one that allows none", [3, 0, 5], 0],
    ["with more under way than is allowed", [-2, 4], 0]
  ] as const)("is the least that is allowed: %s", (_title, rooms, least) => {
    assert.strictEqual(smallestLimit(rooms.map((room) => reason(room))).available(none), least)
  })

  it.effect("may be more when any of the reasons says so", () =>
    Effect.gen(function* () {
      const told = smallestLimit([reason(1, Stream.make("one")), reason(1, Stream.make("two"))])
      assert.sameMembers([...(yield* Stream.runCollect(told.changes))] as Array<string>, ["one", "two"])
    })
  )

  it.effect("is none while the host is drained", () =>
    Effect.gen(function* () {
      const drainedAt = yield* SubscriptionRef.make<string | undefined>(undefined)
      const { available } = unlessDrained(drainedAt)
      assert.strictEqual(available(none), Number.POSITIVE_INFINITY)
      yield* SubscriptionRef.set(drainedAt, "2026-01-01T00:00:00.000Z")
      assert.strictEqual(available(none), 0)
    })
  )
})
