/** Files whose names are not UTF-8: git's output, read as such, has the same text for many of them. */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { type Attack, forged, honest, isRefused, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** `%`: a byte that is not UTF-8. */
const at = ({ root }: Pick<Scene, "root">, path: string, byte = 0xff) =>
  Buffer.concat([
    Buffer.from(`${root}/`),
    ...path.split("%").flatMap((part, n) => [...(n === 0 ? [] : [Buffer.from([byte])]), Buffer.from(part)])
  ])

const put = (scene: Pick<Scene, "root">, path: string, text: string, byte?: number) => {
  mkdirSync(at(scene, path.slice(0, path.lastIndexOf("/")), byte), { recursive: true })
  writeFileSync(at(scene, path, byte), text)
}

/** A folder that hides itself with what a gate obeys. */
const putHidden = (scene: Scene, folder: string, byte?: number) => {
  put(scene, `${folder}/.gitignore`, "*\n", byte)
  put(scene, `${folder}/conftest.py`, "import os; os._exit(0)\n", byte)
}

const attacks: ReadonlyArray<Attack> = [
  ...["tools/d%", "tools/up/d%", "d%/inner"].map(
    (folder): Attack => ({
      name: `a folder that hides itself: ${folder}`,
      attack: (here) => {
        const done = here.work()
        putHidden(here, folder)
        return done
      },
      told: /d\uFFFDff\/(inner\/)? \(hides itself, and no commit says so/
    })
  ),
  {
    name: "a file that hides a folder of another name in one that is committed",
    attack: (here) => {
      put(here, "tools/d%/.gitignore", "*\n")
      put(here, "tools/d%/a.py", "\n")
      here.git("add", "--force", "tools")
      const done = here.work()
      putHidden(here, "tools/d%", 0xfe)
      return done
    },
    told: /tools\/d\uFFFDfe\/ \(hides itself/
  },
  {
    name: "a pipe",
    attack: (here) => {
      const done = here.work()
      execFileSync("sh", ["-c", `mkfifo "$(printf 'tools/p\\377')"`], { cwd: here.root })
      return done
    },
    told: /tools\/p\uFFFDff \(is a named pipe/
  },
  {
    name: "attributes in a committed folder, by which another file is the same",
    attack: (here) => {
      put(here, "d%/.gitattributes", "*.sh -text\n")
      put(here, "d%/a.sh", "true\n")
      const done = here.work()
      put(here, "d%/.gitattributes", "*.sh text eol=crlf\n")
      return done
    },
    shown: true,
    told: /d\uFFFD\/\.gitattributes \(differs from what the commit holds/
  },
  {
    name: "an entry of the index in the place of another",
    attack: (here) => {
      put(here, "d%/a.sh", "true\n")
      const done = here.work()
      const lines = execFileSync("git", ["ls-files", "--stage", "-z", "d*"], { cwd: here.root })
      const other = Buffer.from(lines.toString("latin1").replace("\xff", "\xfe"), "latin1")
      const removed = Buffer.from(lines.toString("latin1").replace(/^\d+ [0-9a-f]+/, `0 ${"0".repeat(40)}`), "latin1")
      execFileSync("git", ["update-index", "-z", "--index-info"], { cwd: here.root, input: removed })
      execFileSync("git", ["update-index", "-z", "--index-info"], { cwd: here.root, input: other })
      return done
    },
    shown: true,
    told: /d\uFFFD\/a\.sh/
  },
  {
    name: "a changed file where a sparse checkout leaves files out",
    attack: (here) => {
      here.git("sparse-checkout", "set", "--no-cone", "/*", "!/left/")
      put(here, "tools/c%.mjs", honest)
      const done = here.work()
      put(here, "tools/c%.mjs", forged)
      return done
    },
    shown: true,
    told: /tools\/c\uFFFD\.mjs/
  }
]

layer(adapters, { excludeTestServices: true })("a name that is not UTF-8", (it) => {
  it.effect.each(attacks)("hides nothing: $name", isRefused)

  it.effect("is that of a folder which is believed where it hid itself before the run, and of no other", () =>
    Effect.gen(function* () {
      const here = yield* scene
      putHidden(here, "tools/d%")
      put(here, "tools/up/i%/a.log", "x")
      yield* requireClean({ directory: here.root, root: here.root }, true)
      const done = here.work()
      assert.strictEqual(yield* here.detailOf(done), "verified")
      putHidden(here, "tools/d%", 0xfe)
      assert.match(yield* here.detailOf(done), /tools\/d\uFFFDfe\/ \(hides itself/)
    })
  )

  it.effect("is believed of a folder whose files a committed rule hides", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const done = here.work()
      put(here, "tools/i%/a.log", "x")
      put(here, "node_modules/i%/a", "x")
      assert.strictEqual(yield* here.detailOf(done), "verified")
    })
  )
})
