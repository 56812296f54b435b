// @module-tag long
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  completes,
  doneTask,
  doTask,
  folder,
  planId,
  planWith,
  reviewed,
  stopsAt,
  worksWhen
} from "../harness/checkpointPlan.ts"
import { answers, fileOf, parks } from "../harness/parkedRun.ts"
import { makeWorld, type World } from "../harness/World.ts"

const task = (n: number) => `${planId}-T${n}`
const statePath = `${folder}/.continuation-state.json`

const stateOf = (world: World): unknown => JSON.parse(fileOf(world, statePath))

const subjectsOf = (world: World) => world.git("log", "--format=%s").split("\n")

const Data = Schema.fromJsonString(Schema.Struct({ ok: Schema.Literal(true), data: Schema.Unknown }))
const dataOf = (stdout: string) => Schema.decodeUnknownSync(Data)(stdout).data

describe("a plan with three checkpoints", () => {
  it.live("completes with four fresh authors, one commit for each task and a summary of every task", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: planWith(
          "Create the module",
          "Build the page (checkpoint: human-verify)",
          "Choose the provider (checkpoint: decision)",
          "Register the application (checkpoint: human-action)",
          "Finish"
        ),
        script: {
          rules: [
            worksWhen("carry out its phase 2", doTask("module"), doTask("page")),
            stopsAt(2, "human-verify", [doneTask(1, "module"), doneTask(2, "page")], {
              verifySteps: ["Open the page", "Press the button"]
            }),
            worksWhen("Re-execute Task 2 with the user's input.", doTask("page-again")),
            stopsAt(2, "human-verify", [doneTask(2, "page-again")], { verifySteps: ["Open the page"] }),
            worksWhen("Skip Task 2 and continue from Task 3."),
            stopsAt(3, "decision", [], {
              options: [
                { id: "github", label: "GitHub" },
                { id: "discord", label: "Discord", recommended: true }
              ]
            }),
            worksWhen("Re-execute Task 3 with the user's input.", doTask("provider")),
            stopsAt(4, "human-action", [doneTask(3, "provider")], { requiredAction: "Register it at the provider" }),
            worksWhen("Re-execute Task 4 with the user's input.", doTask("application"), doTask("finish")),
            completes("finish", [doneTask(4, "application"), doneTask(5, "finish")]),
            ...reviewed
          ].map((rule, index) => (index === 0 ? { ...rule, match: { role: "author", kind: "work" } } : rule))
        }
      })

      const look = yield* parks(world)
      assert.deepStrictEqual(
        look.options.map(({ name }) => name),
        ["pass", "fail"]
      )
      const commits = world.git("log", "--format=%H", "-2").split("\n").reverse()
      assert.deepStrictEqual(stateOf(world), {
        plan_id: planId,
        completed_tasks: [
          // As committed: the author has added everything, and what the runtime has changed in its own file is undone.
          { id: task(1), commit: commits[0], files: ["module.txt"] },
          { id: task(2), commit: commits[1], files: ["page.txt"] }
        ],
        checkpoint: { task: task(2), type: "human-verify" },
        resume_at: task(2)
      })
      yield* answers(world, look.escalationId, "fail", "1: pass; 2: fail nothing happens")

      const again = yield* parks(world)
      assert.strictEqual(again.evidence.checkpoint?.task, task(2))
      yield* answers(world, again.escalationId, "pass")

      const decide = yield* parks(world)
      assert.containSubset(stateOf(world), { checkpoint: { task: task(3), type: "decision" }, resume_at: task(3) })
      const whole = fileOf(world, statePath)
      writeFileSync(join(world.root, statePath), whole.slice(0, 60))
      yield* answers(world, decide.escalationId, "github")

      const act = yield* parks(world)
      const [waiting] = yield* world.runs
      assert.include(waiting?.notices.join("\n"), `${statePath} was refused (truncated`)
      yield* answers(world, act.escalationId, "done", "It is registered as number 7.")
      assert.strictEqual((yield* world.reprise("run", "PLAN.md")).code, 0)

      assert.deepStrictEqual(subjectsOf(world).slice(0, -1).sort(), [
        "feat: application",
        "feat: finish",
        "feat: module",
        "feat: page",
        "feat: page-again",
        "feat: provider"
      ])
      assert.strictEqual(world.git("status", "--porcelain"), "", "neither record nor summary is seen by git")

      const authors = (yield* world.sessions).filter(({ role }) => role === "author")
      assert.strictEqual(authors.length, 5, "one author, and four fresh ones")
      const calls = yield* world.model.calls
      assert.deepStrictEqual(yield* world.model.unmatched, [])
      assert.strictEqual(calls.filter(({ role }) => role === "author").length, 11)
      assert.strictEqual(calls.filter(({ role }) => role === "reviewer").length, 1)
      const prompts = calls
        .filter(({ kind, role, round }) => role === "author" && kind === "work" && round === 0)
        .map(({ lastUser }) => lastUser)
      assert.strictEqual(prompts.length, 5)
      for (const [index, sentence] of [
        "User confirmed: 1. Open the page: pass; 2. Press the button: fail (nothing happens)",
        "User confirmed: 1. Open the page: pass",
        "User chose Option github: GitHub",
        "User confirms action completed: It is registered as number 7."
      ].entries()) {
        assert.include(prompts[index + 1], sentence)
        assert.include(prompts[index + 1], statePath)
      }

      const hash = (subject: string) =>
        world.git("log", "--format=%H", "--fixed-strings", `--grep=${subject}`).split("\n").at(-1)
      const file = fileOf(world, `${folder}/SUMMARY.md`)
      for (const section of [
        "## Task Results",
        `### Task 1: Create the module\n\n- **Id**: \`${task(1)}\`\n- **Commit**: \`${hash("feat: module")}\` - feat: module\n- **Status**: complete (pre-checkpoint)`,
        "### Task 2: Build the page (checkpoint: human-verify)",
        "- **Checkpoint resolution**: failed: 1: pass; 2: fail nothing happens; then passed",
        `- **Commit**: \`${world.git("log", "--format=%H", "--grep=page-again")}\` - feat: page-again\n- **Status**: complete (post-checkpoint)`,
        "### Task 3: Choose the provider (checkpoint: decision)",
        "- **Checkpoint resolution**: github: GitHub",
        "### Task 4: Register the application (checkpoint: human-action)",
        "- **Checkpoint resolution**: done: It is registered as number 7.",
        `### Task 5: Finish\n\n- **Id**: \`${task(5)}\`\n- **Commit**: \`${hash("feat: finish")}\` - feat: finish\n- **Status**: complete (post-checkpoint)`,
        "## Tokens and Cost",
        "tokens of earlier turns not sent again to fresh authors"
      ]) {
        assert.include(file, section)
      }

      const runId = waiting?.runId ?? ""
      const text = yield* world.reprise("summary", runId)
      assert.include(text.stdout, "### Task 4: Register the application (checkpoint: human-action)")
      const data = dataOf((yield* world.reprise("summary", runId, "--json")).stdout)
      assert.containSubset(data, { planId, runId, phases: [{ id: "2", completedBy: "review" }] })
      assert.containSubset(dataOf((yield* world.reprise("status", runId, "--json")).stdout), {
        status: "completed",
        tasks: [{ phase: "2", id: task(1), status: "complete (pre-checkpoint)" }]
      })
      const unknown = yield* world.reprise("summary", "no-run")
      assert.strictEqual(unknown.code, 2, unknown.stderr)
    })
  )
})
