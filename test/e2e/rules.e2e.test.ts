// @module-tag long
/** Rules in place of questions, on both runtimes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { canSandbox } from "@reprise/sandbox/testing"
import { lacksAgent } from "@reprise/testing"
import { Effect } from "effect"
import { userFolderOf } from "../harness/brokerOf.ts"
import { on, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const sandboxed = await canSandbox()

const commit = "echo {{phase}} > phase-{{phase}}.txt && git add -A && git commit -q -m 'Write it' && git rev-parse HEAD"
const done = { text: "It is written and committed." }

/** The files in which this machine keeps rules, one for each clone. */
const ruleFiles = (world: World): ReadonlyArray<string> => {
  const folder = join(userFolderOf(world), "permissions")
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

for (const runtime of ["opencode", "claude"] as const)
  describe.skipIf(lacksAgent(runtime))(`on ${runtime}`, () => {
    it.live(
      "'always' writes the rule that the gate showed, which holds after a kill, in a new process, and in a second run",
      () =>
        Effect.gen(function* () {
          const command = "printf often >> often.txt; git add -A && git commit -q -m 'Write it' && git rev-parse HEAD"
          const world = yield* makeWorld({
            plan: plan("One", "Two"),
            config: "",
            environment: () => ({ REPRISE_RUNTIME: runtime }),
            script: script(
              on({ role: "author", kind: "work", afterTool: true, lastMessage: "interrupted" }, [
                { bash: command },
                done
              ]),
              on({ role: "author", kind: "work" }, [{ bash: command }, done]),
              on({ firstUser: "once more", kind: "report" }, { report: { result: "complete" } }),
              on({ firstUser: "once more" }, [{ bash: command }, done])
            )
          })
          const run = yield* world.start("run", "PLAN.md", "--json")
          yield* run.waitFor(/"type":"EscalationRaised"/)
          yield* run.ended
          const [question] = yield* world.questions
          const always = question?.options.find(({ name }) => name === "always")
          assert.strictEqual(always?.label, `Allow always; rule for this repository: run exactly: ${command}`)
          const shown = yield* world.reprise("gate", "show", question?.escalationId ?? "")
          assert.include(shown.stdout, `run exactly: ${command}`)
          assert.deepStrictEqual(ruleFiles(world), [])

          const answered = yield* world.reprise("gate", "answer", question?.escalationId ?? "", "always")
          assert.strictEqual(answered.code, 0, answered.stderr)
          const again = yield* world.start("run", "PLAN.md", "--json")
          yield* again.waitFor(/"type":"PhaseCompleted"/)
          yield* again.kill("SIGKILL")
          assert.strictEqual(ruleFiles(world).length, 1)
          const last = yield* world.reprise("run", "PLAN.md", "--json")
          assert.strictEqual(last.code, 0, last.stdout + last.stderr)
          assert.notInclude(again.stdout + last.stdout, '"type":"EscalationRaised"')
          assert.strictEqual(readFileSync(join(world.root, "often.txt"), "utf8"), "oftenoften")
          assert.strictEqual(world.git("status", "--porcelain"), "", "the rule is in no file of the repository")

          const second = yield* world.reprise("sessions", "start", "Do it once more", "--json")
          assert.strictEqual(second.code, 0, second.stdout + second.stderr)
          assert.notInclude(second.stdout, '"type":"EscalationRaised"')

          const listed = JSON.parse((yield* world.reprise("permissions", "--json")).stdout)
          assert.deepStrictEqual(
            listed.data.remembered.map(({ kind, what }: { kind: string; what: string }) => [kind, what]),
            [["command", command]]
          )
          const removed = yield* world.reprise("permissions", "remove", listed.data.remembered[0].id)
          assert.strictEqual(removed.code, 0, removed.stderr)
          assert.deepStrictEqual(JSON.parse((yield* world.reprise("permissions", "--json")).stdout).data.remembered, [])
        })
    )

    it.live.skipIf(!sandboxed)(
      "a file that the sandbox does not let a command write becomes one question, whose 'always' is a rule that is listed and removed",
      () =>
        Effect.gen(function* () {
          const saves = "echo kept >> $HOME/data/results"
          const world = yield* makeWorld({
            plan: plan("One", "Two"),
            config: "",
            environment: () => ({ REPRISE_SANDBOX_MODE: "auto", REPRISE_RUNTIME: runtime }),
            script: script(
              on({ role: "author", kind: "work", afterTool: true, lastMessage: "interrupted" }, [
                { bash: `${saves} || true` },
                { bash: saves },
                { bash: commit },
                done
              ]),
              on({ role: "author", kind: "work" }, [{ bash: saves }, { bash: saves }, { bash: commit }, done])
            )
          })
          const data = join(realpathSync(join(world.root, "..")), "home", "data")
          mkdirSync(data, { recursive: true })
          const run = yield* world.reprise("run", "PLAN.md", "--json")
          assert.strictEqual(run.code, 4, run.stdout + run.stderr)
          const [question, ...others] = yield* world.questions
          assert.deepStrictEqual(others, [])
          assert.deepStrictEqual(
            question?.options.map(({ name }) => name),
            ["once", "always", "reject"]
          )
          const shown = yield* world.reprise("gate", "show", question?.escalationId ?? "")
          assert.include(shown.stdout, `write: ${data}/results`)
          assert.include(shown.stdout, `let commands write in ${data}`)
          const answered = yield* world.reprise("gate", "answer", question?.escalationId ?? "", "always")
          assert.strictEqual(answered.code, 0, answered.stderr)
          const again = yield* world.reprise("run", "PLAN.md", "--json")
          assert.strictEqual(again.code, 0, again.stdout + again.stderr)
          assert.notInclude(again.stdout, '"type":"EscalationRaised"')
          assert.match(readFileSync(join(data, "results"), "utf8"), /^(kept\n){2,}$/)
          const listed = JSON.parse((yield* world.reprise("permissions", "--json")).stdout).data.remembered
          assert.deepStrictEqual(
            listed.map(({ kind, what }: { kind: string; what: string }) => [kind, what]),
            [["write", data]]
          )
          assert.include((yield* world.reprise("permissions")).stdout, `let commands write in ${data}`)
          const explained = JSON.parse((yield* world.reprise("sandbox", "explain", "--json")).stdout)
          assert.include(explained.data.write, data)
          assert.strictEqual((yield* world.reprise("permissions", "remove", listed[0].id)).code, 0)
          const after = JSON.parse((yield* world.reprise("sandbox", "explain", "--json")).stdout)
          assert.notInclude(after.data.write, data)
          assert.strictEqual(world.git("status", "--porcelain"), "", "the rule is in no file of the repository")
        })
    )
  })
