import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitForCommand } from "../harness/waitUntil.ts"

const author = { role: "author", kind: "report" } as const

describe("a question at the terminal", () => {
  it.live("is not answered by what was typed before, asks twice before an abort, and takes every line of a paste", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One"),
        script: script(once(author, { hold: "working", report: { result: "needs_human", reason: "Which colour?" } }))
      })
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* world.model.awaitHeld("working")
      run.type("q\nq")
      yield* run.waitFor(/q\r?\nq/)
      yield* world.model.release("working")
      yield* run.waitFor(/Which colour\?[\s\S]*typed before[\s\S]*ignored[\s\S]*answer> \s*$/)

      run.type("q\n")
      yield* run.waitFor(/abort.*are you sure\? \[y\/N\] /)
      run.type("\n")
      yield* run.waitFor(/Not answered[\s\S]*answer> \s*$/)
      run.type("f: Blue,\nor green,\nnever red\n")
      assert.strictEqual((yield* run.ended).code, 0, run.stdout)
      const asked = (yield* world.model.calls).map(({ lastUser }) => lastUser)
      assert.isTrue(asked.some((text) => text.includes("Blue,\nor green,\nnever red")))
    })
  )

  it.live("leaves the terminal to an open editor when somebody else answers, and then shows what happened", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld(oneQuestion)
      const at = (name: string) => join(world.root, "..", name)
      execFileSync("mkfifo", [at("close")])
      writeFileSync(at("editor"), `printf 'Blue' > "$1"; echo EDITING; read -r line < '${at("close")}'; echo CLOSED\n`)
      world.environment["EDITOR"] = `sh '${at("editor")}'`
      const run = yield* world.atTerminal("run", "PLAN.md")
      yield* run.waitFor(/answer> \s*$/)
      run.type("c\n")
      yield* run.waitFor(/guidance .*> \s*$/)
      run.type("e\n")
      yield* run.waitFor(/EDITING\s*$/)

      const [question] = yield* world.questions
      yield* world.reprise("gate", "answer", question?.escalationId ?? "", "fix")
      yield* waitForCommand(Effect.map(world.runs, ([only]) => only?.status === "completed" || undefined))
      assert.match(run.stdout, /EDITING\r?\n$/, "nothing is printed over the editor")
      writeFileSync(at("close"), "\n")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)
      assert.match(ended.stdout, /EDITING\s+CLOSED[\s\S]*not sent[\s\S]*Run completed[\s\S]*journal and logs/)
      const kept = /What you wrote was not sent; it is in (\S+)\./.exec(ended.stdout)?.[1] ?? ""
      assert.isTrue(existsSync(kept))
    })
  )
})
