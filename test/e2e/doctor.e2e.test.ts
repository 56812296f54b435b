/** `reprise doctor`: what keeps a run from starting is found before; with `--ask-models` the models are asked for one word. */
import { assert, describe, it } from "@effect/vitest"
import { canSandbox } from "@reprise/sandbox/testing"
import { Effect } from "effect"
import { on, plan } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"

interface Row {
  readonly check: string
  readonly state: string
  readonly detail: string
  readonly next?: string
}

const sandboxed = await canSandbox()

const aboutModels = (stdout: string): ReadonlyArray<Row> =>
  JSON.parse(stdout).data.filter(({ check }: Row) => check === "model")

describe("reprise doctor", () => {
  it.live("asks no model without being told to, and else each for one word", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), script: { rules: [on({}, { text: "OK" })] } })
      const quiet = yield* world.reprise("doctor", "--json")
      assert.deepStrictEqual([quiet.code, aboutModels(quiet.stdout)[0]?.state], [0, "warning"])
      assert.strictEqual((yield* world.model.calls).length, 0)

      world.environment["REPRISE_REVIEWER_MODEL"] = "scripted/nonsense"
      const asked = yield* world.reprise("doctor", "--ask-models", "--json")
      assert.strictEqual(asked.code, 3)
      const [author, reviewer] = aboutModels(asked.stdout)
      assert.match(author?.detail ?? "", /^scripted\/scripted \(author\) answered in [\d.]+ s: \d+ tokens, \$0\.0000$/)
      assert.match(reviewer?.detail ?? "", /^scripted\/nonsense \(reviewer\): .*Model not found/)
      assert.include(reviewer?.next, "opencode models")
      assert.strictEqual((yield* world.model.calls).length, 1)
    })
  )

  it.live.skipIf(!sandboxed)("says why OpenCode is not started in the sandbox, as a run does", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ plan: plan("One"), script: { rules: [] } })
      const environment = { REPRISE_SANDBOX_MODE: "required", OPENCODE_PURE: "1" }
      const { code, stdout } = yield* world.repriseIn({ environment }, "doctor", "--json")
      assert.strictEqual(code, 3)
      const rows: ReadonlyArray<Row> = JSON.parse(stdout).data
      const { detail = "", next, state } = rows.find(({ check }) => check === "sandbox") ?? {}
      assert.deepStrictEqual([state, next], ["broken", 'Unset it, or set sandbox.mode to "off".'])
      const run = yield* world.repriseIn({ environment }, "run", "PLAN.md")
      assert.strictEqual(run.code, 3)
      assert.include(run.stderr.replaceAll(/\s+/g, " "), detail)
      assert.strictEqual((yield* world.model.calls).length, 0)
    })
  )
})
