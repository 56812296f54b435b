/** Objects of git that a command falsified, when the run ends without a verification. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { putObject } from "./support/hostileAuthor.ts"
import { done, prepared, services } from "./support/preparing.ts"
import { type Repository, repository } from "./support/repository.ts"

const hook = ".husky/post-checkout"

/** On `dev` the hook is another one. */
const withBranch = Effect.gen(function* () {
  const made = yield* repository
  yield* made.write(hook, "#!/bin/sh\n")
  yield* made.commit("hook")
  const own = yield* made.git("branch", "--show-current")
  yield* made.git("checkout", "--quiet", "-b", "dev")
  yield* made.write(hook, "#!/bin/sh\n# newer\n")
  yield* made.commit("newer")
  yield* made.git("checkout", "--quiet", own)
  return made
})

/** What git unpacks of `dev`; undefined: nothing, since it has no such object. */
const checkedOut = ({ root }: Repository) => {
  execFileSync("git", ["checkout", "--quiet", "dev"], { cwd: root, stdio: "pipe" })
  const path = join(root, hook)
  return existsSync(path) ? readFileSync(path, "utf8") : undefined
}

const refusedIn = ({ root }: Repository) => {
  const folder = join(root, ".reprise/sandbox/refused")
  return existsSync(folder) ? readdirSync(folder) : []
}

layer(services, { excludeTestServices: true })("a run that ends without a verification", (it) => {
  it.effect.each([false, true])("leaves no false file of another branch to check out, in a worktree: %s", (worktree) =>
    Effect.gen(function* () {
      const made = yield* withBranch
      const { place } = yield* prepared(made.root, { worktree })
      const object = yield* made.git("rev-parse", `dev:${hook}`)
      putObject(made, object, "blob", Buffer.from("#!/bin/sh\nevil\n"))
      yield* done(place, "failed")
      assert.isUndefined(checkedOut(made))
      assert.deepStrictEqual(
        refusedIn(made).map((name) => name.endsWith(object.slice(2))),
        [true]
      )
    })
  )

  it.effect("leaves what it finds as its name says", () =>
    Effect.gen(function* () {
      const made = yield* withBranch
      const { place } = yield* prepared(made.root)
      yield* done(place, "failed")
      assert.strictEqual(checkedOut(made), "#!/bin/sh\n# newer\n")
      assert.deepStrictEqual(refusedIn(made), [])
    })
  )
})
