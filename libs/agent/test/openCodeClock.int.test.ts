/** OpenCode orders messages by their time. What happens when the clock of its machine is set back. */
import { writeFileSync } from "node:fs"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AgentRuntime } from "../src/index.ts"
import { clockFile, openCodeWorld } from "./contract/openCodeWorld.ts"
import { Places } from "./contract/Places.ts"
import { countingCalls, newSession, say, userMessages } from "./contract/World.ts"

/** A prompt whose tool sets the clock back. */
const setBack = (root: string, ms: number) => `run printf %s -${ms} > ${clockFile(root)}`

/** Its loop calls the model until the abort reaches it; left alone it made 111 calls in the same time. */
const untilAborted = 60

const setClock = (ms: number) => Effect.map(Places, ({ root }) => writeFileSync(clockFile(root), `${ms}`))

/** Sets the clock to this long before the session's newest message. */
const setClockBefore = Effect.fnUntraced(function* (id: string, ms: number) {
  const runtime = yield* AgentRuntime
  const times = (yield* runtime.history(id)).map(({ timestamp = "" }) => Date.parse(timestamp))
  yield* setClock(Math.max(...times) - Date.now() - ms)
})

describe("OpenCode, when its clock is set back", () => {
  layer(openCodeWorld, { excludeTestServices: true, timeout: "5 minutes" })((it) => {
    it.effect("by seconds in the middle of a turn, finishes the turn with few model calls more", () =>
      Effect.gen(function* () {
        const { root } = yield* Places
        yield* setClock(0)
        const id = yield* newSession()
        yield* say(id, "say before")
        const { calls, result } = yield* countingCalls(say(id, setBack(root, 3000)))
        assert.strictEqual(result.text, "ran")
        assert.isAtMost(calls, untilAborted)
        assert.strictEqual(result.toolCalls, 1)
        assert.strictEqual(yield* userMessages(id), 2)
        assert.strictEqual((yield* say(id, "say after")).text, "after")
      })
    )

    it.effect.each([3_000, 500])("by %i ms between two turns, answers the second one", (ms) =>
      Effect.gen(function* () {
        yield* setClock(0)
        const id = yield* newSession()
        yield* say(id, "say before")
        yield* setClockBefore(id, ms)
        const { calls, result } = yield* countingCalls(say(id, "say after"))
        assert.strictEqual(result.text, "after")
        assert.isAtMost(calls, untilAborted)
        assert.strictEqual(yield* userMessages(id), 2)
      })
    )

    it.effect("by an hour, gives the session up, and a new one works", () =>
      Effect.gen(function* () {
        const { root } = yield* Places
        yield* setClock(0)
        const id = yield* newSession()
        yield* say(id, "say before")
        const inTurn = yield* countingCalls(Effect.flip(say(id, setBack(root, 3_600_000))))
        assert.isFalse(inTurn.result.sessionUsable)
        assert.match(inTurn.result.detail, /clock .* set back by 3\d{3} s[\s\S]*new one/)
        assert.isAtMost(inTurn.calls, untilAborted)
        const later = yield* countingCalls(Effect.flip(say(id, "say after")))
        assert.isFalse(later.result.sessionUsable)
        assert.isAtMost(later.calls, untilAborted)
        const runtime = yield* AgentRuntime
        assert.strictEqual((yield* runtime.inspect(id)).state._tag, "idle")
        assert.strictEqual((yield* say(yield* newSession(), "say again")).text, "again")
      })
    )
  })
})
