// @module-tag long
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { needsHuman, once, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"

const config = `permissions = "all"
[workspace]
postCreate = ["mkdir -p .reprise && pwd >> .reprise/post-created"]
`

const Rows = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        directory: Schema.String,
        branch: Schema.String,
        merged: Schema.Boolean,
        dirty: Schema.Array(Schema.String)
      })
    )
  })
)
const decodeRows = Schema.decodeUnknownSync(Rows)
const worktrees = (world: World) =>
  Effect.map(world.reprise("worktree", "list", "--json"), ({ stdout }) => decodeRows(stdout).data)

/** The subjects of the authors' commits on a branch. */
const written = (world: World, branch: string) =>
  world
    .git("log", "--format=%s", branch)
    .split("\n")
    .filter((line) => line.startsWith("Write"))

describe("reprise run --worktree", () => {
  it.live("works on its own branch, leaves the main tree alone, and continues there in the next `reprise run`", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), config, script: script() })
      const before = world.git("rev-parse", "HEAD")
      const first = yield* world.reprise("run", "PLAN.md", "--worktree")
      assert.strictEqual(first.code, 0, first.stderr)
      assert.include(first.stdout, "next: 'git merge reprise/plan' merges its work;")

      assert.strictEqual(world.git("rev-parse", "HEAD"), before)
      assert.strictEqual(world.git("rev-parse", "--abbrev-ref", "HEAD"), "main")
      assert.strictEqual(world.git("status", "--porcelain"), "")
      assert.isFalse(existsSync(join(world.root, "phase-1.txt")))
      assert.strictEqual(written(world, "reprise/plan").length, 1)

      const [tree, ...others] = yield* worktrees(world)
      assert.deepStrictEqual(others, [])
      const [run] = yield* world.runs
      assert.strictEqual(tree?.directory, join(world.root, ".reprise", "worktrees", run?.runId ?? ""))
      assert.deepInclude(tree, { branch: "reprise/plan", merged: false })
      const postCreated = () => readFileSync(join(tree?.directory ?? "", ".reprise", "post-created"), "utf8")
      assert.strictEqual(postCreated(), `${tree?.directory}\n`)

      const second = yield* world.reprise("run", "PLAN.md", "--worktree")
      assert.strictEqual(second.code, 0, second.stderr)
      assert.strictEqual(written(world, "reprise/plan").length, 2)
      assert.strictEqual(postCreated(), `${tree?.directory}\n`, "its commands ran once")
      assert.deepStrictEqual(
        (yield* worktrees(world)).map(({ name }) => name),
        [tree?.name]
      )
    })
  )
})

describe("reprise worktree remove", () => {
  it.live("refuses to remove the worktree of an open run or one with uncommitted changes, and keeps the branch", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        config,
        script: script(once({ role: "author", kind: "report" }, needsHuman("Which?")))
      })
      assert.strictEqual((yield* world.reprise("run", "PLAN.md", "--worktree")).code, 4)
      const [tree] = yield* worktrees(world)
      const directory = tree?.directory ?? ""

      const inUse = yield* world.reprise("worktree", "remove", "reprise/plan")
      assert.strictEqual(inUse.code, 2)
      assert.match(inUse.stderr, /belongs to run .*waiting[\s\S]*reprise abort/)

      const [question] = yield* world.questions
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "q")
      world.git("-C", directory, "rm", "--quiet", "--cached", "PLAN.md")
      const dirty = yield* world.reprise("worktree", "remove", "reprise/plan")
      assert.strictEqual(dirty.code, 2)
      assert.match(dirty.stderr, /PLAN\.md[\s\S]*--force/)

      const removed = yield* world.reprise("worktree", "remove", directory, "--force")
      assert.strictEqual(removed.code, 0, removed.stderr)
      assert.isFalse(existsSync(directory))
      assert.strictEqual(written(world, "reprise/plan").length, 1)

      const again = yield* world.reprise("run", "PLAN.md", "--worktree")
      assert.strictEqual(again.code, 0, again.stderr)
      assert.strictEqual(written(world, "reprise/plan").length, 2, "the branch that was left is used again")
    })
  )
})
