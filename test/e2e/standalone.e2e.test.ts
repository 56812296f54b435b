// @module-tag long
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { on, plan } from "../harness/modelScript.ts"
import { makeWorld, type WorldOptions } from "../harness/World.ts"

const task = "Write hello.txt."
const done = { report: { result: "complete" } }
const writes = { text: "I write it now.", bash: "echo hello > hello.txt" }

const worldOf = (options: Pick<WorldOptions, "config" | "openCode">, ...rules: ReadonlyArray<ReturnType<typeof on>>) =>
  makeWorld({
    plan: plan("One"),
    openCode: "shared",
    ...options,
    script: {
      rules: [...rules, on({ kind: "report" }, done), on({}, [writes, { text: "hello.txt is written." }])]
    }
  })

const linesOf = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

describe("a standalone session", () => {
  it.live("does its task, is archived, and exits with 0", () =>
    Effect.gen(function* () {
      const world = yield* worldOf({})
      const started = yield* world.reprise("sessions", "start", task, "--json")
      assert.strictEqual(started.code, 0, started.stderr)
      assert.isTrue(existsSync(join(world.root, "hello.txt")))
      const events = linesOf(started.stdout)
      const id = String(events[0]?.["runId"])
      assert.deepStrictEqual([...new Set(events.map(({ runId }) => runId))], [id])
      assert.includeMembers(
        events.map(({ type }) => type),
        ["SessionCreated", "TurnCompleted", "SessionCompleted", "SessionArchived"]
      )
      assert.deepStrictEqual(
        (yield* world.eventsOf(id)).map(({ type }) => type),
        events.map(({ type }) => type)
      )
      const exported = yield* world.reprise("sessions", "export", id)
      assert.strictEqual(exported.code, 0, exported.stderr)
      const file = JSON.parse(readFileSync(join(world.root, "agent-sessions", id, "session.json"), "utf8"))
      assert.deepInclude(file.metadata, { id, status: "completed", turnCount: 1, cwd: world.root, role: "author" })
      assert.isTrue(file.messages[0].content[0].text.startsWith(`${task}\n\n## Your report`))
      assert.isAbove(file.metadata.totalInputTokens, 0)
      assert.deepStrictEqual(
        file.messages.flatMap(({ content }: { content: ReadonlyArray<{ type: string }> }) =>
          content.flatMap(({ type }) => (type === "text" ? [] : [type]))
        ),
        ["tool_use", "tool_result"]
      )

      const pruned = yield* world.reprise("prune", "--days", "0", "--yes", "--json")
      assert.strictEqual(pruned.code, 0, pruned.stderr)
      assert.deepStrictEqual(JSON.parse(pruned.stdout).data.sessions, [
        { sessionId: id, archive: `.reprise/archive/${id}.json` }
      ])
      assert.deepStrictEqual(yield* world.sessions, [])
      const kept = join(world.root, ".reprise", "agent-sessions", id, "session.json")
      assert.deepStrictEqual(JSON.parse(readFileSync(kept, "utf8")), file)
    })
  )

  it.live("asks for a permission, and continues in the same turn when another process answers", () =>
    Effect.gen(function* () {
      const world = yield* worldOf({ config: "" })
      const session = yield* world.atTerminal("sessions", "start", task)
      yield* session.waitFor(/answer> /)
      const [question] = yield* world.questions
      assert.strictEqual(question?.origin, "permission")
      assert.strictEqual(question?.evidence.lastLines, "I write it now.")
      assert.strictEqual(question?.sessionId, question?.runId as string | undefined)
      const answered = yield* world.reprise("gate", "answer", question?.escalationId ?? "", "once")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const ended = yield* session.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      assert.isTrue(existsSync(join(world.root, "hello.txt")))
      const [view] = yield* world.sessions
      assert.deepInclude(view, { status: "completed", turns: 1 })
    })
  )

  it.live("is parked at a permission without a terminal, and the answer reaches the agent when it asks again", () =>
    Effect.gen(function* () {
      const world = yield* worldOf(
        { config: "", openCode: "own" },
        // Told that its command was interrupted, the model runs it again.
        on({ afterTool: true, lastMessage: "interrupted" }, [writes, { text: "hello.txt is written." }])
      )
      const parked = yield* world.reprise("sessions", "start", task)
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [question] = yield* world.questions
      assert.strictEqual(question?.origin, "permission")
      assert.strictEqual((yield* world.reprise("gate", "answer", question?.escalationId ?? "", "once")).code, 0)
      const ended = yield* world.reprise("sessions", "start", task)
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.isTrue(existsSync(join(world.root, "hello.txt")))
      assert.strictEqual((yield* world.sessions).length, 1)
    })
  )
})
