/** The user's configuration may have git not look at what a quality gate goes by: the case of letters, who may run a file, links. */
import { chmodSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { type Attack, isRefused, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** As the user has configured it before, with a file and a link that are committed. */
const working = (at: Scene, setting: string) => {
  at.git("config", setting, setting === "core.ignoreCase" ? "true" : "false")
  at.put("tests/CONFTEST.py", "\n")
  at.put("run.sh", "exit 0\n")
  symlinkSync("run.sh", join(at.root, "link"))
  // git would commit the link as a file.
  at.git("-c", "core.symlinks=true", "add", "link")
  return at.work()
}

const attacks: ReadonlyArray<Attack> = [
  {
    name: "a file beside one of the same name in other letters",
    attack: (at) => {
      const done = working(at, "core.ignoreCase")
      at.put("tests/conftest.py", "import os; os._exit(0)\n")
      return done
    },
    told: /tests\/conftest\.py/
  },
  {
    name: "a folder beside one of the same name in other letters",
    attack: (at) => {
      const done = working(at, "core.ignoreCase")
      at.put("TESTS/CONFTEST.py", "\n")
      return done
    },
    told: /TESTS\/CONFTEST\.py/
  },
  {
    name: "a file that a rule for other letters hides",
    attack: (at) => {
      const done = working(at, "core.ignoreCase")
      at.put("tests/a.LOG", "\n")
      return done
    },
    told: /tests\/a\.LOG/
  },
  {
    name: "a file that may be run and may not in the commit",
    attack: (at) => {
      const done = working(at, "core.fileMode")
      chmodSync(join(at.root, "run.sh"), 0o755)
      return done
    },
    told: /run\.sh \(is executable or a link and not so in the commit/
  },
  {
    name: "a file in the place of a link",
    attack: (at) => {
      const done = working(at, "core.symlinks")
      rmSync(join(at.root, "link"))
      writeFileSync(join(at.root, "link"), "run.sh")
      return done
    },
    told: /link \(is executable or a link and not so in the commit/
  }
]

layer(adapters, { excludeTestServices: true })("a configuration that has git not look", (it) => {
  it.effect.each(attacks)("hides nothing of the work: $name", isRefused)

  it.effect("is obeyed for what was so before the run", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = working(at, "core.fileMode")
      chmodSync(join(at.root, "run.sh"), 0o755)
      yield* requireClean({ directory: at.root, root: at.root }, false)
      assert.strictEqual(yield* at.detailOf(done), "verified")
      chmodSync(join(at.root, "tools/check.mjs"), 0o755)
      assert.match(yield* at.detailOf(done), /^dirty-tree: Not committed: tools\/check\.mjs \(is executable/)
    })
  )
})
