// @module-tag long
/** `reprise agents`: the agents that have a name, and what one of them can. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { canSandbox } from "@reprise/sandbox/testing"
import type { ScriptInput } from "@reprise/scripted-model"
import { Effect, Schema } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const sandboxed = await canSandbox()

const knows = { firstUser: "Remember the word PLUM" }
const counting = {
  match: { lastUser: "Count from 1" },
  reply: { text: "1\n2\n3", hold: { name: "counting", afterChars: 3 } }
}

/** The answer to the second question stops in the middle, until its process is killed. */
const capable: ScriptInput = {
  rules: [
    { match: { lastUser: "Remember the word PLUM" }, reply: { text: "OK" } },
    {
      match: { ...knows, lastUser: "Which word" },
      reply: { text: "PLUM", hold: { name: "answering", afterChars: 2 } }
    },
    { match: { ...knows, lastUser: "Your turn was interrupted" }, reply: { text: "PLUM" } },
    counting
  ]
}

/** A world in which `opencode` is on the PATH, and no other agent. */
const worldWith = Effect.fnUntraced(function* (rules: ScriptInput, sandbox: "off" | "required" = "off") {
  const program = yield* Effect.orDie(locateOpenCode())
  return yield* makeWorld({
    plan: plan("One"),
    script: rules,
    environment: (folder, { url }) => {
      const bin = join(folder, "bin")
      mkdirSync(bin)
      symlinkSync(program, join(bin, "opencode"))
      return {
        PATH: `${bin}:/usr/bin:/bin`,
        TMPDIR: folder,
        REPRISE_SANDBOX_MODE: sandbox,
        // Where its settings are, and its model.
        REPRISE_SANDBOX_READ: JSON.stringify([folder, dirname(program)]),
        REPRISE_SANDBOX_AGENT_NETWORK: JSON.stringify([new URL(url).host])
      }
    }
  })
})

const Probed = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Struct({
      runtime: Schema.String,
      findings: Schema.Array(Schema.Struct({ step: Schema.String, result: Schema.String, detail: Schema.String }))
    })
  })
)
const findingsIn = (stdout: string) =>
  Schema.decodeUnknownSync(Probed)(stdout).data.findings.map(({ result, step }) => `${step}: ${result}`)

const processesIn = (folder: string) =>
  readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").includes(`REPRISE_ACP_STATE=${folder}`)
    } catch {
      return false
    }
  })

describe("reprise agents", () => {
  it.live("says which agents there are and which of them are installed", () =>
    Effect.gen(function* () {
      const world = yield* worldWith(script())
      const { code, stdout } = yield* world.reprise("agents", "list")
      assert.strictEqual(code, 0)
      assert.match(stdout, /opencode-acp .*acp:opencode acp .*proven .*\/bin\/opencode/)
      assert.match(stdout, /codex .*acp:codex-acp .*proven .*no: npm install -g/)
      assert.match(stdout, /gemini .*acp:gemini --acp .*proven/)
      assert.match(stdout, /claude-agent-acp .*proven .*as a whole/, "how the sandbox holds it")
      const missing = yield* world.reprise("agents", "probe", "codex", "--yes")
      assert.strictEqual(missing.code, 3)
      assert.match(
        missing.stderr,
        /There is no program codex-acp on the PATH\.[\s\S]*npm install -g @agentclientprotocol\/codex-acp/
      )
      const unknown = yield* world.reprise("agents", "probe", "cursor", "--yes")
      assert.strictEqual(unknown.code, 2)
      assert.match(unknown.stderr, /There is no agent 'cursor'\.[\s\S]*Name one of opencode-acp, /)
      assert.strictEqual((yield* world.reprise("agents", "probe", "acp:sh -c 'true'", "--yes")).code, 2)
      const unasked = yield* world.reprise("agents", "probe", "opencode-acp")
      assert.strictEqual(unasked.code, 2)
      assert.include(unasked.stderr, "Add --yes")
      assert.deepStrictEqual(yield* world.model.calls, [], "nothing was spent")
    })
  )

  it.live("finds that OpenCode continues after kill -9 in the middle of a turn, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const world = yield* worldWith(capable)
      const { code, stderr, stdout } = yield* world.reprise("agents", "probe", "opencode-acp", "--yes", "--json")
      assert.deepStrictEqual(findingsIn(stdout), ["start: yes", "prompt: yes", "resume: yes", "cancel: yes"], stderr)
      assert.match(stdout, /killed in the middle of a turn, it went on in the same session/)
      assert.strictEqual(code, 0)
      const folder = join(world.root, "..")
      assert.deepStrictEqual(processesIn(folder), [])
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.startsWith("reprise-probe-")),
        []
      )
    })
  )

  it.live.skipIf(!sandboxed)("probes an agent inside of the sandbox where a turn would run it there", () =>
    Effect.gen(function* () {
      const outside = join("/var/tmp", `reprise-probed-${process.pid}`)
      const remembering: ScriptInput["rules"][number] = {
        match: { lastUser: "Remember the word PLUM" },
        reply: [{ bash: `echo x > ${outside}; true` }, { text: "OK" }]
      }
      const world = yield* worldWith({ rules: [remembering, ...capable.rules.slice(1)] }, "required")
      const { code, stderr, stdout } = yield* world.reprise("agents", "probe", "opencode-acp", "--yes", "--json")
      const escaped = existsSync(outside)
      rmSync(outside, { force: true })
      assert.deepStrictEqual(findingsIn(stdout), ["start: yes", "prompt: yes", "resume: yes", "cancel: yes"], stderr)
      assert.strictEqual(code, 0)
      assert.include(stdout, '"inSandbox":true')
      assert.isFalse(escaped)
    })
  )

  it.live("says what an agent cannot, and does not try what needs it", () =>
    Effect.gen(function* () {
      const forgets = { match: { lastUser: { regex: "Which word|interrupted" } }, reply: { text: "I do not know" } }
      const world = yield* worldWith({ rules: [{ match: { lastUser: "Remember" }, reply: { text: "OK" } }, forgets] })
      const { code, stderr, stdout } = yield* world.reprise("agents", "probe", "opencode-acp", "--yes")
      assert.strictEqual(code, 3)
      assert.match(stdout, /continues after kill -9 .*no .*it did not know what was said before: 'I do not know'/)
      assert.match(stdout, /can be cancelled .*not tried/)
      assert.match(stderr, /It ran outside of the sandbox/)
      const broken = yield* world.reprise("agents", "probe", "acp:/bin/cat", "--yes", "--json")
      assert.strictEqual(findingsIn(broken.stdout)[0], "start: no")
    })
  )
})
