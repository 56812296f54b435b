// @module-tag long
/** A whole run in the sandbox, with the settings that nobody touched. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { canSandbox } from "@reprise/sandbox/testing"
import { Effect } from "effect"
import { on, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const sandboxed = await canSandbox()

const inSandbox = { REPRISE_SANDBOX_MODE: "required" }

describe.skipIf(!sandboxed)("a run in the sandbox", () => {
  it.live("asks nothing, commits its work, and lets neither the author nor a quality gate out", () =>
    Effect.gen(function* () {
      const outside = join("/var/tmp", `reprise-escaped-${process.pid}`)
      const tries = `echo x > ${outside}; echo x > .git/hooks/post-commit; cat .reprise/endpoint.json`
      const world = yield* makeWorld({
        plan: plan("One", "Two"),
        config: `[gates]\nquality = ["(${tries}) > gate.txt 2>&1; test -s gate.txt; rm gate.txt; test -n \\"$REPRISE_SANDBOX\\""]\n`,
        environment: () => inSandbox,
        script: script(
          on({ role: "author", kind: "work" }, [
            { bash: `(${tries}) > /tmp/tried.txt 2>&1; cat /tmp/tried.txt; true` },
            {
              bash: "echo {{phase}} > phase-{{phase}}.txt && git add -A && git commit -q -m 'Write it' && git rev-parse HEAD"
            },
            { text: "It is written and committed." }
          ])
        )
      })
      const run = yield* world.reprise("run", "PLAN.md", "--json")
      assert.strictEqual(run.code, 0, run.stdout + run.stderr)
      assert.strictEqual((yield* world.questions).length, 0)
      const escaped = existsSync(outside)
      rmSync(outside, { force: true })
      assert.isFalse(escaped)
      assert.isFalse(existsSync(join(world.root, ".git", "hooks", "post-commit")))
      const results = (yield* world.eventsOf((yield* world.runs)[0]?.runId ?? "")).filter(
        ({ type }) => type === "QualityPassed"
      )
      assert.strictEqual(results.length, 2)
      assert.isTrue(existsSync(join(world.root, "phase-2.txt")))
    })
  )

  it.live("is explained: what commands may write, not see and reach", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        plan: plan("One"),
        config: '[sandbox]\nnetwork = ["example.org"]\n',
        files: { "package.json": "{}" },
        environment: () => inSandbox,
        script: script()
      })
      const shown = yield* world.reprise("sandbox", "explain")
      assert.strictEqual(shown.code, 0, shown.stderr)
      assert.include(shown.stdout, world.root)
      assert.include(shown.stdout, join(world.root, ".reprise"))
      const json = JSON.parse((yield* world.reprise("sandbox", "explain", "--json")).stdout)
      assert.deepStrictEqual(json.data.network, {
        author: ["example.org", "registry.npmjs.org", "registry.yarnpkg.com"],
        reviewer: []
      })
      assert.include(json.data.write, world.root)
      assert.include(json.data.hidden, join(world.root, ".reprise"))
      assert.isFalse(existsSync(join(world.root, ".reprise", "sandbox")), "to explain leaves nothing behind")
    })
  )
})

describe("a machine without bubblewrap", () => {
  it.live("refuses a run that requires the sandbox, and says what to install", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), config: "", script: script() })
      const programs = join(world.root, "..", "programs")
      mkdirSync(programs)
      symlinkSync(execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim(), join(programs, "git"))
      const run = yield* world.repriseIn({ environment: { ...inSandbox, PATH: programs } }, "run", "PLAN.md")
      assert.strictEqual(run.code, 3, run.stdout + run.stderr)
      assert.include(run.stderr, "bubblewrap is not installed")
      assert.include(run.stderr, "apt-get install bubblewrap socat")
    })
  )
})
