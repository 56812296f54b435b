// @module-tag long
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { locateOpenCode } from "@reprise/agent"
import { canSandbox } from "@reprise/sandbox/testing"
import { Effect } from "effect"
import { on, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

const sandboxed = await canSandbox()

const runtime = Effect.map(Effect.orDie(locateOpenCode()), (program) => `acp:${program} acp`)

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
