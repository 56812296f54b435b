/** What honest work leaves in a tree is not a change: each refusal of it would stop a run for nothing. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { qualityGates } from "../src/work/qualityGates/qualityGates.ts"
import { gates } from "./support/commands.ts"
import { check, putSocket, type Scene, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

/** What tools and users do. */
const allowed: ReadonlyArray<{
  readonly name: string
  readonly leave: (scene: Scene) => void
  /** What is there before the run, and stays. */
  readonly before?: (scene: Scene) => void
  readonly after?: (scene: Scene) => void
}> = [
  {
    name: "folders that tools fill and hide by themselves",
    leave: (at) => {
      at.put("packages/one/setup.cfg", "\n")
      at.put(".husky/pre-commit", "true\n")
      at.commit("folders")
      for (const folder of [".venv", ".pytest_cache", "packages/one/.ruff_cache", ".husky/_"]) {
        at.put(`${folder}/.gitignore`, "*\n")
        at.put(`${folder}/deep/conftest.py`, "\n")
      }
    }
  },
  {
    name: "what a .gitignore of the commit hides, with any name and rules inside",
    leave: (at) => {
      at.put("packages/new/package.json", "{}\n")
      at.commit("package")
      at.put("node_modules/one/.gitignore", "dist\n*.js\n")
      at.put("node_modules/one/.gitattributes", "* text\n")
      at.put("node_modules/one/conftest.py", "\n")
      at.put("run.log", "\n")
      at.put("packages/new/node_modules/two/.gitignore", "*\n")
    }
  },
  {
    name: "attributes that a .gitignore of the commit hides, of no file of the commit",
    leave: (at) => {
      at.put(".gitignore", "node_modules/\n*.log\nscratch/.gitattributes\n")
      at.commit("rules")
      at.put("scratch/.gitattributes", "* text\n")
    }
  },
  {
    name: "what the repository's own info/exclude hides",
    leave: (at) => {
      at.put(".git/info/exclude", "/.reprise/\nnotes.txt\n")
      at.put("notes.txt", "\n")
    }
  },
  {
    name: "files that were only touched",
    leave: (at) => {
      const now = new Date()
      utimesSync(join(at.root, check), now, now)
    }
  },
  {
    name: "ends of lines and keywords as git checks them out, or as the commit has them",
    leave: (at) => {
      at.put(".gitattributes", "*.txt text eol=crlf\n*.mjs ident\n")
      at.put("one.txt", "1\n")
      at.put("two.txt", "1\n2\n")
      at.put("src/a.mjs", "// $Id$\n")
      at.commit("conversions")
      rmSync(join(at.root, "one.txt"))
      rmSync(join(at.root, "src/a.mjs"))
      at.git("checkout", "--", "one.txt", "src/a.mjs")
      assert.include(readFileSync(join(at.root, "one.txt"), "utf8"), "\r\n")
      assert.include(readFileSync(join(at.root, "src/a.mjs"), "utf8"), "$Id: ")
    }
  },
  {
    name: "names that git does not read from a list: a quote, a line break, and one that is not UTF-8",
    leave: (at) => {
      at.put(".gitattributes", "* text=auto\n")
      at.put('"x"', "1\n")
      at.put("a\nb", "1\n")
      writeFileSync(Buffer.from(`${at.root}/caf\xe9.txt`, "latin1"), "1\n")
      writeFileSync(Buffer.from(`${at.root}/caf\xe8.txt`, "latin1"), "2\n")
      at.commit("names")
      rmSync(Buffer.from(`${at.root}/caf\xe9.txt`, "latin1"))
      at.git("-c", "core.eol=crlf", "checkout", "--", ".")
      at.git("config", "core.eol", "crlf")
    }
  },
  {
    name: "attributes that are a link, as the commit has it, whose target git reads as rules",
    leave: (at) => {
      symlinkSync("*.mjs ident", join(at.root, ".gitattributes"))
      at.put("src/a.mjs", "// $Id$\n")
      at.commit("link")
      rmSync(join(at.root, "src/a.mjs"))
      at.git("checkout", "--", "src/a.mjs")
      assert.include(readFileSync(join(at.root, "src/a.mjs"), "utf8"), "$Id: ")
    }
  },
  {
    name: "attributes with other ends of lines, as git checks them out",
    leave: (at) => {
      at.put(".gitattributes", "* text eol=crlf\n")
      at.commit("rules")
      rmSync(join(at.root, ".gitattributes"))
      at.git("checkout", "--", ".gitattributes")
      assert.include(readFileSync(join(at.root, ".gitattributes"), "utf8"), "\r\n")
    }
  },
  {
    name: "files that a filter of the user's reads otherwise",
    leave: (at) => {
      at.git("config", "filter.strip.clean", "sed s/output/x/")
      at.put(".gitattributes", "*.ipynb filter=strip text\n")
      at.put("a.ipynb", "output\n")
      at.commit("notebook")
      assert.strictEqual(at.git("show", "HEAD:a.ipynb"), "x")
    }
  },
  {
    name: "folders without files, which are removed",
    leave: (at) => {
      mkdirSync(join(at.root, "src/empty/deep"), { recursive: true })
      mkdirSync(join(at.root, "test"))
    },
    after: (at) => {
      assert.isFalse(existsSync(join(at.root, "src/empty")))
      assert.isFalse(existsSync(join(at.root, "test")))
      assert.isTrue(existsSync(join(at.root, "drafts")), "a person's own stays")
    }
  },
  {
    name: "what git does not show, and was there before the run",
    before: (at) => {
      putSocket(join(at.root, "server.sock"))
      execFileSync("mkfifo", [join(at.root, "tools/events")])
      at.put("logs/run.log", "\n")
      at.put("notes/.gitignore", "*\n")
    },
    leave: (at) => {
      at.put("logs/other.log", "\n")
      at.put("notes/more.txt", "\n")
    }
  },
  {
    name: "sockets, pipes and folders without files that rules of the commit hide",
    leave: (at) => {
      at.put(".gitignore", "node_modules/\n*.log\n*.sock\n/.vite/\ntmp\n")
      at.commit("rules")
      for (const folder of [".vite/deps", "src/tmp"]) mkdirSync(join(at.root, folder), { recursive: true })
      putSocket(join(at.root, "src/server.sock"))
      putSocket(join(at.root, ".vite/hmr"))
      execFileSync("mkfifo", [join(at.root, "node_modules.log")])
    },
    after: (at) => assert.isTrue(existsSync(join(at.root, "src/tmp")))
  },
  {
    name: "a socket in a folder that a tool fills and hides by itself",
    leave: (at) => {
      at.put(".devenv/.gitignore", "*\n")
      mkdirSync(join(at.root, ".devenv/state"))
      putSocket(join(at.root, ".devenv/state/database"))
      execFileSync("mkfifo", [join(at.root, ".devenv/state/log")])
    }
  },
  {
    name: "files that rules hide, in a folder that no rule names",
    leave: (at) => {
      at.put(".gitignore", "*.pyc\n")
      at.commit("rules")
      at.put("src/__pycache__/check.cpython-313.pyc", "")
      at.put("build/objects/__pycache__/check.cpython-313.pyc", "")
    }
  },
  {
    name: "a folder of nothing but files that Reprise writes",
    leave: (at) => {
      at.put(".git/info/exclude", "/.reprise/\n/.planning/phases/*/SUMMARY.md\n")
      at.put(".planning/phases/1/SUMMARY.md", "done\n")
    }
  },
  {
    name: "flags of the index that were there before the run",
    before: (at) => {
      at.put("local.json", "{}\n")
      at.commit("settings")
      at.git("update-index", "--assume-unchanged", "local.json")
      at.git("update-index", "--skip-worktree", check)
    },
    leave: () => undefined
  },
  {
    name: "flags by which the user's git takes all files for unchanged",
    leave: (at) => {
      at.git("config", "core.ignoreStat", "true")
      at.put("src/b.mjs", "1\n")
      at.commit("more")
      assert.include(at.git("ls-files", "-v"), "h src/b.mjs")
    }
  },
  {
    name: "what a sparse checkout leaves out",
    leave: (at) => void at.git("sparse-checkout", "set", "--no-cone", "/*", "!/src/")
  },
  {
    name: "what a sparse checkout of folders leaves out",
    leave: (at) => void at.git("sparse-checkout", "set", "--cone", "tools")
  }
]

layer(adapters, { excludeTestServices: true })("the tree that gates run on", (it) => {
  it.effect.each(allowed)("is that of the commit with $name", ({ after, before, leave }) =>
    Effect.gen(function* () {
      const at = yield* scene
      before?.(at)
      yield* requireClean({ directory: at.root, root: at.root }, false)
      at.work()
      leave(at)
      assert.strictEqual(yield* at.detailOf(at.git("rev-parse", "HEAD")), "verified")
      after?.(at)
    })
  )

  it.effect.each(["true", "false"])(
    "is that of the commit after quality gates that leave things behind, and end with: %s",
    (end) =>
      Effect.gen(function* () {
        const at = yield* scene
        const done = at.work()
        const leave = "mkdir -p logs test odd && echo x > logs/run.log && mkfifo src/pipe odd/pipe"
        const event = yield* qualityGates(gates([leave, end]), at.place)
        assert.strictEqual(event._tag, end === "true" ? "QualityPassed" : "QualityFailed")
        assert.deepStrictEqual(
          ["logs/run.log", "test", "odd", "src/pipe"].map((path) => existsSync(join(at.root, path))),
          [true, false, false, false],
          "only what rules hide stays"
        )
        assert.strictEqual(yield* at.detailOf(done), "verified")
        execFileSync("mkfifo", [join(at.root, "src/test")])
        assert.match(yield* at.detailOf(done), /^dirty-tree: Not committed: src\/test \(/)
      })
  )

  it.effect.each([
    { name: "ends of lines by an attribute", rules: "*.txt eol=crlf\n", text: "1\n2\n" },
    { name: "ends of lines by the configuration", rules: "", text: "1\n2\n", automatic: true },
    { name: "keywords", rules: "*.txt ident\n", text: "$Id$\n" }
  ])("is that of the commit although a checkout writes other sizes: $name", ({ automatic, rules, text }) =>
    Effect.gen(function* () {
      const at = yield* scene
      at.put(".gitattributes", rules)
      at.commit("rules")
      at.put("a.txt", text)
      const done = at.commit()
      assert.strictEqual(yield* at.detailOf(done), "verified")
      if (automatic === true) at.git("config", "core.autocrlf", "true")
      at.git("checkout", "--quiet", at.base)
      at.git("checkout", "--quiet", "main")
      assert.notStrictEqual(readFileSync(join(at.root, "a.txt"), "utf8"), text)
      assert.strictEqual(yield* at.detailOf(done), "verified")
    })
  )
})
