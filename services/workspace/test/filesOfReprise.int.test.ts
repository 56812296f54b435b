/** Files with the names of those that Reprise writes are Reprise's own only where no commit and no index has them. */
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { fileNamesOfPhase, localSettings } from "@reprise/process"
import { Effect } from "effect"
import { excludePatterns } from "../src/work/files/ownFiles.ts"
import { requireClean } from "../src/work/prepare/refusal.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { verify } from "./support/commands.ts"
import { type Attack, forged, isRefused, putDeep, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const attacks: ReadonlyArray<Attack> = [
  {
    name: "a file of the commit in Reprise's own folder",
    attack: (at) => {
      at.put(".reprise/check.sh", "exit 1\n")
      at.git("add", "--force", ".reprise/check.sh")
      at.git("commit", "--quiet", "-m", "work")
      at.put(".reprise/check.sh", "exit 0\n")
      return at.git("rev-parse", "HEAD")
    },
    told: /\.reprise\/check\.sh/,
    shown: true
  },
  {
    name: "a file of the commit with the name of a summary that Reprise writes",
    attack: (at) => {
      at.put(".planning/phases/01-one/SUMMARY.md", "exit 1\n")
      const done = at.commit()
      at.put(".planning/phases/01-one/SUMMARY.md", "exit 0\n")
      return done
    },
    told: /\.planning\/phases\/01-one\/SUMMARY\.md/,
    shown: true
  },
  {
    name: "a file with the name of a summary where Reprise writes none",
    attack: (at) => {
      const done = at.work()
      at.put(".planning/SUMMARY.md", forged)
      return done
    },
    told: /\.planning\/SUMMARY\.md/,
    shown: true
  },
  {
    name: "an entry in Reprise's own folder that the index alone has",
    attack: (at) => {
      const done = at.work()
      at.put(".reprise/evil.mjs", forged)
      at.git("add", "--force", ".reprise/evil.mjs")
      return done
    },
    told: /\.reprise\/evil\.mjs/,
    shown: true
  }
]

const ownRules = `${excludePatterns.join("\n")}\n`

/** What an author leaves under the names that Reprise's rules hide, each with what the author is told. */
const hidden: ReadonlyArray<{
  readonly name: string
  readonly leave: (directory: string) => void
  readonly told: RegExp
}> = [
  {
    name: "files in the folder in which Reprise keeps nothing there",
    leave: (directory) => put(directory, ".reprise/__mocks__/is-odd.js"),
    told: /\.reprise\/__mocks__\/is-odd\.js \(is hidden by a rule that Reprise itself made/
  },
  {
    name: "files in that folder which a .gitignore of the commit hides, too",
    leave: (directory) => put(directory, ".reprise/node_modules/is-odd/index.js"),
    told: /\.reprise\/node_modules\/is-odd\/index\.js \(is hidden by a rule that Reprise itself made/
  },
  {
    name: "more in that folder than can be listed",
    leave: (directory) => putDeep(directory, ".reprise"),
    told: /\.reprise\/ \(is hidden by a rule that Reprise itself made, and holds too much/
  },
  ...fileNamesOfPhase.flatMap((name) => [
    {
      name: `a folder in the place of ${name}`,
      leave: (directory: string) => put(directory, `.planning/phases/1/${name}/__mocks__/is-odd.js`),
      told: new RegExp(`\\.planning/phases/1/${name}/__mocks__/is-odd\\.js \\(is hidden by a rule`)
    },
    {
      name: `a link in the place of ${name}`,
      leave: (directory: string) => {
        mkdirSync(join(directory, ".planning/phases/1"), { recursive: true })
        symlinkSync("../../../node_modules", join(directory, `.planning/phases/1/${name}`))
      },
      told: new RegExp(`\\.planning/phases/1/${name} \\(is a link in the place of a file that Reprise writes`)
    }
  ]),
  {
    name: "a folder in the place of the user's own settings",
    leave: (directory) => put(directory, `${localSettings}/__mocks__/is-odd.js`),
    told: /reprise\.local\.toml\/__mocks__\/is-odd\.js \(is hidden by a rule/
  },
  {
    name: "a link in the place of the user's own settings",
    leave: (directory) => symlinkSync("node_modules", join(directory, localSettings)),
    told: /reprise\.local\.toml \(is a link in the place of a file/
  }
]

const put = (directory: string, path: string) => {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), forged)
}

/** A run's worktree with a commit of the author's, in a repository with Reprise's rules. */
const worktree = Effect.gen(function* () {
  const at = yield* scene
  at.put(".git/info/exclude", ownRules)
  const directory = join(at.root, ".reprise/worktrees/r1")
  at.git("worktree", "add", "--quiet", "-b", "run", directory)
  const inTree = (...args: ReadonlyArray<string>) => at.git("-C", directory, ...args)
  const place = { ...at.place, directory }
  yield* requireClean(place, false)
  const commit = () => {
    inTree("commit", "--quiet", "--allow-empty", "-m", "work")
    return inTree("rev-parse", "HEAD")
  }
  const detailOf = (done: string) =>
    Effect.map(verifyCommit(verify(done, at.base), place), (event) =>
      event._tag === "CommitRejected" ? event.detail : "verified"
    )
  return { ...at, directory, inTree, commit, detailOf }
})

layer(adapters, { excludeTestServices: true })("the tree that gates run on", (it) => {
  it.effect.each(attacks)("is not that of the commit with $name", isRefused)

  it.effect.each(hidden)("is not that of the commit in a worktree with $name", ({ leave, told }) =>
    Effect.gen(function* () {
      const at = yield* worktree
      put(at.directory, "src/a.mjs")
      at.inTree("add", "--all")
      const done = at.commit()
      leave(at.directory)
      assert.strictEqual(at.inTree("status", "--porcelain"), "", "git sees nothing")
      assert.match(yield* at.detailOf(done), told)
    })
  )

  it.effect.each(hidden.slice(3))("is not that of the commit in the repository's own tree with $name", (one) =>
    isRefused({
      name: one.name,
      attack: (at) => {
        at.put(".git/info/exclude", ownRules)
        const done = at.work()
        one.leave(at.root)
        return done
      },
      told: one.told
    })
  )

  it.effect("is that of the commit with the files that Reprise writes, and a link to settings of the user's", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.put(".git/info/exclude", ownRules)
      at.put("dotfiles.toml", "")
      at.commit("dotfiles")
      symlinkSync("dotfiles.toml", join(at.root, localSettings))
      yield* requireClean(at.place, false)
      const done = at.work()
      for (const name of fileNamesOfPhase) put(at.root, `.planning/phases/1/${name}`)
      put(at.root, ".reprise/logs/one.log")
      assert.strictEqual(yield* at.detailOf(done), "verified")
    })
  )

  it.effect("loses folders without files in Reprise's place in a worktree, rather than stop honest work", () =>
    Effect.gen(function* () {
      const at = yield* worktree
      put(at.directory, "src/a.mjs")
      at.inTree("add", "--all")
      const done = at.commit()
      mkdirSync(join(at.directory, ".reprise/logs"), { recursive: true })
      assert.strictEqual(yield* at.detailOf(done), "verified")
      assert.isFalse(existsSync(join(at.directory, ".reprise")))
    })
  )

  it.effect(
    "is not that of the commit with files that Reprise's rule hides beside those of the commit, in a worktree",
    () =>
      Effect.gen(function* () {
        const at = yield* worktree
        put(at.directory, ".reprise/Makefile")
        at.inTree("add", "--force", ".reprise/Makefile")
        const done = at.commit()
        assert.strictEqual(yield* at.detailOf(done), "verified")
        put(at.directory, ".reprise/GNUmakefile")
        assert.match(yield* at.detailOf(done), /\.reprise\/GNUmakefile \(is hidden by a rule that Reprise itself made/)
      })
  )
})
