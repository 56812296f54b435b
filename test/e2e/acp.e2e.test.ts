// @module-tag long
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { canSandbox } from "@reprise/sandbox/testing"
import { Effect } from "effect"
import { heldInMidTurn, on, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const sandboxed = await canSandbox()

const runtime = Effect.map(Effect.orDie(locateOpenCode()), (program) => `acp:${program} acp`)

const configOf = (name: string) => `permissions = "all"\nruntime = "${name}"\n`

const marks = (text: string): ReadonlyArray<string> => text.match(/\[reprise \S+ \d+\]/g) ?? []

/** The agents over the protocol that run for a repository. */
const agentsOf = (root: string): ReadonlyArray<string> =>
  readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`REPRISE_ACP_STATE=${root}`)
    } catch {
      return false
    }
  })

describe("reprise run with runtime acp:COMMAND", () => {
  it.live("continues the same author session after a gate answer, with one new user message", () =>
    Effect.gen(function* () {
      const name = yield* runtime
      const world = yield* makeWorld({ ...oneQuestion, openCode: "own", config: configOf(name) })
      const parked = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(parked.code, 4, parked.stderr)
      const [question] = yield* world.questions
      const before = (yield* world.sessions).find(({ role }) => role === "author")
      assert.strictEqual(before?.runtime, name)
      const asked = (yield* world.model.calls).findLast(({ kind, role }) => role === "author" && kind !== "title")
      const id = question?.escalationId ?? ""
      const answered = yield* world.reprise("gate", "answer", id, "c", "--guidance", "Blue, of course")
      assert.strictEqual(answered.code, 0, answered.stderr)
      const second = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(second.code, 0, second.stderr)
      const [view] = yield* world.runs
      assert.strictEqual(view?.status, "completed")
      const continued = (yield* world.model.calls).find(({ kind }) => kind === "continue")
      assert.include(continued?.lastUser, "Blue, of course")
      assert.strictEqual(continued?.turn, (asked?.turn ?? 0) + 1)
      const said = asked?.messages.map(({ text }) => text) ?? []
      assert.deepStrictEqual(continued?.messages.map(({ text }) => text).slice(0, said.length), said)
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.deepStrictEqual(
        authors.map(({ runtimeSessionId }) => runtimeSessionId),
        [before?.runtimeSessionId]
      )
    })
  )

  it.live("continues a turn whose host was killed, and the model sees the prompt once", () =>
    Effect.gen(function* () {
      const name = yield* runtime
      const goesOn = on({ role: "author", lastUser: "Your turn was interrupted" }, [
        { bash: "echo work > work.txt && git add -A && git commit -q -m 'Write it' && git rev-parse HEAD" },
        { text: "Done." }
      ])
      const world = yield* makeWorld({
        plan: plan("One"),
        script: { rules: [goesOn, ...heldInMidTurn.rules] },
        config: configOf(name)
      })
      const first = yield* world.start("run", "PLAN.md")
      yield* world.model.awaitHeld("mid-turn")
      assert.isAbove(agentsOf(world.root).length, 0)
      yield* first.kill("SIGKILL")
      yield* world.model.release("mid-turn")
      const second = yield* world.reprise("run", "PLAN.md")
      assert.strictEqual(second.code, 0, second.stderr)
      const [view] = yield* world.runs
      assert.strictEqual(view?.status, "completed")
      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.strictEqual(authors.length, 1)
      const last = (yield* world.model.calls).findLast(({ role, kind }) => role === "author" && kind !== "title")
      const seen = (last?.messages ?? []).filter(({ role }) => role === "user").flatMap(({ text }) => marks(text))
      assert.strictEqual(new Set(seen).size, seen.length)
      assert.isTrue(seen.some((mark) => mark.endsWith(" 0]")))
      assert.isTrue(seen.some((mark) => mark.endsWith(" 1]")))
      assert.deepStrictEqual(agentsOf(world.root), [])
    })
  )

  it.live("starts no command of a repository that nobody has trusted", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        script: script(),
        config: "",
        files: { "reprise.toml": 'runtime = "acp:/bin/sh started.sh"\n', "started.sh": "touch started.txt\n" }
      })
      const run = yield* world.reprise("run", "PLAN.md", "--no-input")
      assert.strictEqual(run.code, 3)
      assert.include(run.stderr, "acp:/bin/sh started.sh")
      assert.include(run.stderr, "reprise trust")
      const doctor = yield* world.reprise("doctor", "--ask-models")
      assert.include(doctor.stdout, "not trusted")
      assert.notInclude(readdirSync(world.root), "started.txt")
    })
  )

  it.live(
    "lets the agent load nothing of a repository that nobody has trusted, also where the command is the user's own",
    () =>
      Effect.gen(function* () {
        const name = yield* runtime
        const world = yield* makeWorld({
          plan: plan("One"),
          script: script(),
          config: "",
          files: {
            ".opencode/plugin/evil.js":
              'import { writeFileSync } from "node:fs"\nwriteFileSync(new URL("../../loaded.txt", import.meta.url), "x")\nexport const Evil = async () => ({})\n'
          },
          environment: () => ({ REPRISE_RUNTIME: name, REPRISE_PERMISSIONS: "all" })
        })
        const run = yield* world.reprise("run", "PLAN.md", "--no-input")
        assert.strictEqual(run.code, 3)
        assert.include(run.stderr, ".opencode/plugin/evil.js")
        const doctor = yield* world.reprise("doctor", "--ask-models", "--json")
        assert.match(doctor.stdout, /1\.18\.\d+ .* answers/)
        assert.include(doctor.stdout, "are not trusted")
        assert.notInclude(readdirSync(world.root), "loaded.txt")
        const trusted = yield* world.reprise("trust")
        assert.strictEqual(trusted.code, 0, trusted.stderr)
        const second = yield* world.reprise("run", "PLAN.md", "--no-input")
        assert.strictEqual(second.code, 0, second.stderr)
        assert.include(readdirSync(world.root), "loaded.txt")
      })
  )

  it.live.skipIf(!sandboxed)("runs such an agent in the sandbox as a whole, where it is required", () =>
    Effect.gen(function* () {
      const name = yield* runtime
      const outside = join("/var/tmp", `reprise-escaped-${process.pid}`)
      const tries = `echo x > ${outside}; echo x > .git/hooks/post-commit; cat .reprise/endpoint.json`
      const world = yield* makeWorld({
        plan: plan("One"),
        config: `runtime = "${name}"\n`,
        environment: (folder, { url }) => ({
          REPRISE_SANDBOX_MODE: "required",
          // Where its settings are, and its model.
          REPRISE_SANDBOX_READ: JSON.stringify([folder]),
          REPRISE_SANDBOX_AGENT_NETWORK: JSON.stringify([new URL(url).host])
        }),
        script: script(
          on({ role: "author", kind: "work" }, [
            { bash: `(${tries}) > /tmp/tried.txt 2>&1; cat /tmp/tried.txt; true` },
            {
              bash: "echo $REPRISE_SANDBOX > inside.txt && git add -A && git commit -q -m 'Write it' && git rev-parse HEAD"
            },
            { text: "It is written and committed." }
          ])
        )
      })
      const doctor = yield* world.reprise("doctor", "--json")
      assert.include(doctor.stdout, "It runs in the sandbox as a whole.")
      const run = yield* world.reprise("run", "PLAN.md", "--json")
      assert.strictEqual(run.code, 0, run.stdout + run.stderr)
      assert.strictEqual((yield* world.questions).length, 0)
      assert.notInclude(run.stderr, "without the sandbox")
      const escaped = existsSync(outside)
      rmSync(outside, { force: true })
      assert.isFalse(escaped)
      assert.isFalse(existsSync(join(world.root, ".git", "hooks", "post-commit")))
      assert.strictEqual(world.git("show", "HEAD:inside.txt"), "1")
      assert.deepStrictEqual(agentsOf(world.root), [])
    })
  )
})
