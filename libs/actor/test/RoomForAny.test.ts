/** How reasons to take less work for any host come together. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream, SubscriptionRef } from "effect"
import { leastRoom, type RoomForAny } from "../src/index.ts"
import { unlessDrained } from "../src/runtime/RoomForAny.ts"

const reason = (room: number, more: Stream.Stream<unknown> = Stream.empty): RoomForAny => ({ room: () => room, more })
const none: ReadonlySet<never> = new Set()

describe("the room of a worker for work of any host", () => {
  it.each([
    ["without a reason", [], Number.POSITIVE_INFINITY],
    ["with one that allows some", [Number.POSITIVE_INFINITY, 3], 3],
    ["with one that allows none", [3, 0, 5], 0],
    ["with more under way than is allowed", [-2, 4], 0]
  ] as const)("is the least that is allowed: %s", (_title, rooms, least) => {
    assert.strictEqual(leastRoom(rooms.map((room) => reason(room))).room(none), least)
  })

  it.effect("may be more when any of the reasons says so", () =>
    Effect.gen(function* () {
      const told = leastRoom([reason(1, Stream.make("one")), reason(1, Stream.make("two"))])
      assert.sameMembers([...(yield* Stream.runCollect(told.more))] as Array<string>, ["one", "two"])
    })
  )

  it.effect("is none while the host is drained", () =>
    Effect.gen(function* () {
      const drainedAt = yield* SubscriptionRef.make<string | undefined>(undefined)
      const { room } = unlessDrained(drainedAt)
      assert.strictEqual(room(none), Number.POSITIVE_INFINITY)
      yield* SubscriptionRef.set(drainedAt, "2026-01-01T00:00:00.000Z")
      assert.strictEqual(room(none), 0)
    })
  )
})
