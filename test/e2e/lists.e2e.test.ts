/** What is listed where no process runs the broker. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { EmbeddedServer } from "@reprise/nats"
import { Effect } from "effect"
import { oneQuestion } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

const lists = [
  ["status", "--json"],
  ["gate", "list", "--json"],
  ["sessions", "list", "--json"]
] as const

const listed = ({ reprise }: World) =>
  Effect.forEach(lists, (args) => Effect.map(reprise(...args), ({ stdout }) => stdout))

/** None of these commands can start a broker. Undefined: one of them needs it. */
const listedWithoutServer = ({ repriseIn }: World) =>
  Effect.forEach(lists, (args) => repriseIn({ environment: { REPRISE_NATS_SERVER: "/bin/false" } }, ...args)).pipe(
    Effect.map((ended) => (ended.every(({ code }) => code === 0) ? ended.map(({ stdout }) => stdout) : undefined))
  )

const viewsOf = ({ root }: World) => join(root, ".reprise", "views.json")

const keptOf = (text: string) => JSON.parse(text).views

describe("what is listed where nothing runs", () => {
  it.live("is what a broker would answer, and needs none", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...oneQuestion, openCode: "shared" })
      yield* world.reprise("run", "PLAN.md")
      const resting = (yield* listedWithoutServer(world)) ?? assert.fail("a broker was needed")
      const views = readFileSync(viewsOf(world), "utf8")
      // Of another version of Reprise, which may have other views.
      writeFileSync(viewsOf(world), views.replace(/"version":"[^"]+"/, '"version":"0.0.0"'))
      assert.deepStrictEqual(yield* listed(world), resting)
      assert.deepStrictEqual(
        keptOf(readFileSync(viewsOf(world), "utf8")),
        keptOf(views),
        "the owner has kept them again"
      )
      for (const text of resting) assert.lengthOf(JSON.parse(text).data, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not what was kept before another program, such as an older Reprise, ran the same store", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...oneQuestion, openCode: "shared" })
      yield* world.reprise("run", "PLAN.md")
      const directory = join(world.root, ".reprise")
      assert.isDefined(yield* listedWithoutServer(world))
      yield* Effect.scoped(EmbeddedServer.make({ directory }))
      assert.isTrue(existsSync(viewsOf(world)))
      assert.isUndefined(yield* listedWithoutServer(world))
    }).pipe(Effect.scoped)
  )

  it.live("never lacks an answer that was given, even if the process was killed that was to act on it", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...oneQuestion, openCode: "shared" })
      yield* world.reprise("run", "PLAN.md")
      const [question] = yield* world.questions
      const log = yield* world.start("logs", "--follow", "--json")
      yield* log.waitFor(/EscalationRaised/)
      assert.isFalse(existsSync(viewsOf(world)), "while a broker runs they may change")
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "abort")
      yield* log.kill("SIGKILL")
      assert.isUndefined(yield* listedWithoutServer(world), "nothing was kept by a process that was killed")
      // Each command runs the actors for a moment, which act on the answer when it is delivered again.
      const [runs = "", questions = ""] = yield* waitForCommand(
        Effect.andThen(listed(world), listedWithoutServer(world))
      )
      assert.include(runs, '"status":"aborted"')
      assert.deepStrictEqual(JSON.parse(questions).data, [])
    }).pipe(Effect.scoped)
  )
})
