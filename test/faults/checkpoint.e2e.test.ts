// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pageToVerify } from "../harness/checkpointPlan.ts"
import { makeWorld } from "../harness/World.ts"

/** When the process is killed, which is as soon as it shows the sign. */
const moments = [
  { name: "the checkpoint is reached", answered: false, sign: /"type":"CheckpointReached"/ },
  // The server that dies with the process matters only where an agent works.
  { name: "the fresh author is started", answered: true, sign: /"type":"SessionCreated"/, openCode: "own" } as const
]

describe("a checkpoint survives kill -9 and a second `reprise run`", () => {
  for (const { answered, name, openCode = "shared", sign } of moments) {
    it.live(`once ${name}: there is one question, exactly one fresh author, and every commit once`, () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ ...pageToVerify, openCode })
        const killedAt = Effect.fnUntraced(function* () {
          const process = yield* world.start("run", "PLAN.md", "--json")
          yield* process.waitFor(sign)
          yield* process.kill("SIGKILL")
        })
        if (!answered) yield* killedAt()
        const parked = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(parked.code, 4, parked.stderr)
        const [look, ...others] = yield* world.questions
        assert.deepStrictEqual(others, [], "one question is open")
        const answer = yield* world.reprise("gate", "answer", look?.escalationId ?? "", "pass")
        assert.strictEqual(answer.code, 0, answer.stderr)
        if (answered) yield* killedAt()
        const done = yield* world.reprise("run", "PLAN.md")
        assert.strictEqual(done.code, 0, done.stderr)

        const authors = (yield* world.sessions).filter(({ role }) => role === "author")
        assert.strictEqual(authors.length, 2, "one author before the checkpoint, one after it")
        const fresh = (yield* world.model.calls).filter(
          ({ kind, lastUser, role }) => role === "author" && kind === "work" && lastUser.includes("Skip Task 2")
        )
        assert.strictEqual(new Set(fresh.map(({ session }) => session)).size, 1)
        assert.deepStrictEqual([...new Set(fresh.map(({ turn }) => turn))], [1], "its prompt is one message")
        assert.deepStrictEqual(world.git("log", "--format=%s").split("\n"), [
          "feat: finish",
          "feat: page",
          "feat: module",
          "Start"
        ])
        const events = yield* world.eventsOf(authors[0]?.runId ?? "")
        const count = (type: string) => events.filter((event) => event.type === type).length
        assert.deepStrictEqual([count("CheckpointReached"), count("CheckpointResolved")], [1, 1])
      })
    )
  }
})
