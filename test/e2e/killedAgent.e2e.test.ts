// @module-tag long
/** An OpenCode that is killed again and again in its start: the run waits for a human, and goes on. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { Effect } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

/** A world whose OpenCode is killed at each of its first starts. */
const killedWorld = Effect.fnUntraced(function* (times: number) {
  const real = yield* locateOpenCode()
  return yield* makeWorld({
    plan: plan("One"),
    script: script(),
    environment: (folder) => {
      const program = join(folder, "killed-opencode")
      const starts = join(folder, "starts")
      const lines = [
        `echo start >> '${starts}'`,
        `[ $(wc -l < '${starts}') -gt ${times} ] || kill -KILL $$`,
        `exec '${real}' "$@"`
      ]
      writeFileSync(program, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 })
      return { REPRISE_OPENCODE: program }
    }
  })
})

describe("an OpenCode that is killed in its start", () => {
  it.live("is given up after twenty-one times: the run asks a human, who has it started again, and completes", () =>
    Effect.gen(function* () {
      const world = yield* killedWorld(21)
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [question] = yield* world.questions
      assert.strictEqual(question?.origin, "runtime")
      assert.match(
        question?.reason ?? "",
        /OpenCode ended 21 times within \d+ s \(the last time: it did not answer yet, and it was killed \(SIGKILL\)/
      )
      assert.include(question?.reason, join(world.root, ".reprise", "logs", "opencode.log"))
      assert.deepStrictEqual(
        question?.options.map(({ name }) => name),
        ["fix", "override", "abort"]
      )
      const answered = yield* world.reprise("gate", "answer", question?.escalationId ?? "", "fix")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const ended = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.strictEqual((yield* world.runs)[0]?.status, "completed")
    })
  )
})
