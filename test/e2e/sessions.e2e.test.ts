// @module-tag long
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { lacksClaude } from "@reprise/testing"
import { Effect } from "effect"
import { on, oneQuestion, plan } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

const dataOf = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout).data

describe("the sessions of a run", () => {
  it.live("can be shown, exported, attached to and aborted, whether or not a process runs the agents", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ ...oneQuestion, openCode: "own" })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> /)
      const [session] = yield* world.sessions
      const id = session?.sessionId ?? ""
      const runtimeId = session?.runtimeSessionId ?? ""
      assert.strictEqual(session?.heldBy, "phase")

      const attached = dataOf(yield* world.reprise("attach", id, "--json"))
      assert.includeMembers(attached.argv, ["attach", "--session", runtimeId])
      assert.include(attached.environment, "OPENCODE_SERVER_PASSWORD")
      const { password } = JSON.parse(readFileSync(join(world.root, ".reprise", "opencode.json"), "utf8"))
      const shown = yield* world.reprise("sessions", "show", id, "--json")
      for (const text of [JSON.stringify(attached), shown.stdout]) assert.notInclude(text, password)
      assert.include(JSON.stringify(dataOf(shown).conversation), "phase-1.txt is written and committed.")
      yield* waitForCommand(
        Effect.map(world.sessions, (all) => all.find(({ lastActivityAt, savedAt = "" }) => savedAt >= lastActivityAt))
      )
      yield* run.kill("SIGKILL")

      const text = yield* world.reprise("sessions", "show", id)
      assert.include(text.stdout, "phase-1.txt is written and committed.")
      assert.match(text.stdout, /^held by: +phase$/m)
      const exported = dataOf(yield* world.reprise("sessions", "export", id, "out", "--json"))
      const file = JSON.parse(readFileSync(join(world.root, "out", "agent-sessions", id, "session.json"), "utf8"))
      assert.strictEqual(file.messages.length, exported.messages)
      assert.deepInclude(file.metadata, {
        id,
        runId: session?.runId,
        status: "active",
        messageCount: exported.messages
      })
      const alone = dataOf(yield* world.reprise("attach", id, "--json"))
      assert.deepStrictEqual([alone.argv, alone.environment], [["reprise", "attach", id], []])
      const blind = yield* world.reprise("attach", id)
      assert.deepStrictEqual([blind.code, /needs a terminal/.test(blind.stderr)], [2, true])

      const aborted = yield* world.reprise("sessions", "abort", id, "--json")
      assert.deepStrictEqual(dataOf(aborted), { sessionId: id, status: "aborted" })
      const again = yield* world.reprise("sessions", "abort", id, "--json")
      assert.deepStrictEqual([again.code, JSON.parse(again.stdout).error.code], [2, "not-running"])
      const late = yield* world.reprise("attach", id, "--json")
      assert.deepStrictEqual([late.code, JSON.parse(late.stdout).error.code], [2, "ended"])
      const back = yield* world.reprise("sessions", "hand-back", id, "--json")
      assert.deepStrictEqual([back.code, JSON.parse(back.stdout).error.code], [2, "not-running"])
      for (const command of [["show"], ["export"], ["abort"]]) {
        const unknown = yield* world.reprise("sessions", ...command, "nobody", "--json")
        assert.deepStrictEqual([unknown.code, JSON.parse(unknown.stdout).error.code], [2, "unknown-session"])
      }
    })
  )
})

describe.skipIf(lacksClaude)("a session on Claude", () => {
  it.live("can be read while its agent works, without disturbing it", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        config: 'permissions = "all"\nruntime = "claude"\n',
        script: {
          rules: [
            on({ kind: "report" }, { report: { result: "complete" } }),
            on({}, [{ bash: "echo first" }, { hold: "working", text: "Done." }])
          ]
        }
      })
      const session = yield* world.start("sessions", "start", "Do it.", "--json")
      yield* world.model.awaitHeld("working")
      const [view] = yield* world.sessions
      const shown = yield* world.reprise("sessions", "show", view?.sessionId ?? "", "--json")
      assert.include(JSON.stringify(dataOf(shown).conversation), "echo first")
      const command = dataOf(yield* world.reprise("attach", view?.sessionId ?? "", "--json"))
      assert.includeMembers(command.argv, ["--resume", view?.runtimeSessionId])
      yield* world.model.release("working")
      const ended = yield* session.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      const turns = ended.stdout.split("\n").filter((line) => line.includes('"TurnCompleted"'))
      assert.deepStrictEqual(
        turns.map((line) => JSON.parse(line).attempts),
        [1]
      )
    })
  )
})
