// @module-tag long
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { lacksClaude, linkClaudeSdk } from "@reprise/testing"
import { Effect } from "effect"
import { on, once, oneQuestion, plan } from "../harness/modelScript.ts"
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
  it.live("continues by itself after its limit of tool rounds, then asks a human, who attaches at a terminal", () =>
    Effect.gen(function* () {
      const rounds = [{ bash: "true" }, { bash: "true" }, { bash: "true" }, { bash: "true" }, { text: "late" }] as const
      const world = yield* makeWorld({
        plan: plan("One"),
        config:
          'permissions = "all"\nruntime = "claude"\n[limits]\nmaxAgentTurns = 2\n[sessions]\nmaxAutoContinues = 2\n',
        script: {
          rules: [
            on({ kind: "report" }, { report: { result: "complete" } }),
            once({ kind: "continue", firstUser: "twice" }, rounds),
            on({ kind: "continue", firstUser: "twice" }, { text: "Done at last." }),
            on({}, rounds)
          ]
        }
      })
      const twice = yield* world.reprise("sessions", "start", "Do it twice.")
      assert.strictEqual(twice.code, 0, twice.stderr)
      assert.include(twice.stdout, "Done at last.")
      const continued = (yield* world.model.calls).filter(({ kind }) => kind === "continue")
      assert.strictEqual(new Set(continued.map(({ turn }) => turn)).size, 2)

      const endless = yield* world.reprise("sessions", "start", "Do it forever.")
      assert.strictEqual(endless.code, 4, endless.stderr)
      const [question] = yield* world.questions
      assert.strictEqual(question?.origin, "limit")
      assert.include(question?.reason, "3 times")
      assert.strictEqual(question?.options[0]?.name, "continue-session")

      const stub = join(world.root, "../stub/claude")
      mkdirSync(dirname(stub))
      linkClaudeSdk(dirname(stub))
      writeFileSync(stub, '#!/bin/sh\ntest -t 0 && echo "at a terminal: $@ in $PWD"\n')
      chmodSync(stub, 0o700)
      const stubbed = { environment: { REPRISE_CLAUDE: stub }, input: "terminal" } as const
      const attached = yield* world.repriseIn(stubbed, "attach", question?.runId ?? "")
      assert.strictEqual(attached.code, 0, attached.stdout)
      const open = (yield* world.sessions).find(({ sessionId }) => sessionId === question?.sessionId)
      assert.include(attached.stdout, `at a terminal: --resume ${open?.runtimeSessionId} in ${world.root}`)
    })
  )

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
