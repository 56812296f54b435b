/**
 * A quality gate runs on the files of the working tree, and a reviewer reads a commit. What a command of the author can tell git,
 * so that git takes other files for those of the commit, is a change that is not committed.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Attack, check, exchange, forge, forged, honest, isRefused, scene } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const attacks: ReadonlyArray<Attack> = [
  {
    name: "a filter that was given to one git alone",
    attack: (at) => {
      at.put(".gitattributes", "tools/*.mjs filter=swap\n")
      at.put(check, forged)
      at.git("-c", `filter.swap.clean=echo 'process.exit(1)'`, "add", "--all")
      at.git("commit", "--quiet", "-m", "work")
      return at.git("rev-parse", "HEAD")
    },
    told: /tools\/check\.mjs/
  },
  {
    name: "an index that was changed before the commit, so that the commit has another content",
    attack: (at) => {
      at.put(check, forged)
      at.put("src/a.mjs", "1\n")
      at.git("add", "--all")
      exchange(join(at.root, ".git/index"), at.git("rev-parse", `:${check}`), at.git("rev-parse", `HEAD:${check}`))
      at.git("commit", "--quiet", "-m", "work")
      return at.git("rev-parse", "HEAD")
    },
    told: /tools\/check\.mjs \(is not as the commit has it/
  },
  ...["--assume-unchanged", "--skip-worktree"].map(
    (flag): Attack => ({
      name: `a flag of the index: ${flag}`,
      attack: (at) => {
        const done = at.work()
        at.git("update-index", flag, check)
        at.put(check, forged)
        return done
      },
      told: /tools\/check\.mjs/
    })
  ),
  {
    name: "a flag by which a sparse checkout has left a file out",
    attack: (at) => {
      at.git("sparse-checkout", "set", "--no-cone", "/*", "!/left/")
      const done = at.work()
      at.git("update-index", "--skip-worktree", check)
      rmSync(join(at.root, check))
      return done
    },
    told: /tools\/check\.mjs/
  },
  {
    name: "a flag by which a sparse checkout has left a file out whose name has two lines",
    attack: (at) => {
      at.git("sparse-checkout", "set", "--no-cone", "/*", "!/left/")
      at.put("a\nb", "1\n")
      const done = at.work()
      at.git("update-index", "--skip-worktree", "a\nb")
      rmSync(join(at.root, "a\nb"))
      return done
    },
    told: /a\nb/
  },
  {
    name: "attributes of a file that nobody has committed and that hides itself",
    attack: (at) => {
      at.put(".gitattributes", "docs/* text\n")
      const done = at.work()
      at.put("tools/.gitattributes", "*.mjs ident\n")
      at.put("tools/.gitignore", ".gitattributes\n.gitignore\n")
      return done
    },
    told: /tools\/\.gitattributes \(says how git reads files and is in no commit\)/
  },
  {
    name: "attributes by which a committed file is read in another encoding",
    attack: (at) => {
      const done = at.work()
      at.put(".gitattributes", "tools/* working-tree-encoding=UTF-16LE\n.gitattributes !working-tree-encoding\n")
      writeFileSync(join(at.root, check), Buffer.from(honest, "utf16le"))
      at.git("add", check)
      return done
    },
    told: /\.gitattributes \(says how git reads files and is in no commit\)/
  },
  {
    name: "attributes that are a link in the commit, and a file with the same text in the tree",
    attack: (at) => {
      symlinkSync("tools/* ident", join(at.root, ".gitattributes"))
      const done = at.work()
      rmSync(join(at.root, ".gitattributes"))
      at.put(".gitattributes", "tools/* ident")
      return done
    },
    told: /\.gitattributes \(differs from what the commit holds\)/
  },
  {
    name: "attributes that are a link which leads elsewhere than in the commit",
    attack: (at) => {
      symlinkSync("tools/* ident", join(at.root, ".gitattributes"))
      const done = at.work()
      rmSync(join(at.root, ".gitattributes"))
      symlinkSync("tools/* text", join(at.root, ".gitattributes"))
      return done
    },
    told: /\.gitattributes \(differs from what the commit holds\)/
  },
  {
    name: "attributes of more than 10 MB",
    attack: (at) => {
      at.put(".gitattributes", "#\n".repeat(6_000_000))
      return at.work()
    },
    told: /\.gitattributes \(has more than 10 MB/
  },
  {
    name: "ends of lines that git reads away",
    attack: (at) => {
      at.put(".gitattributes", "* text=auto\n")
      at.put("check.sh", "set -e\nfalse\n")
      const done = at.commit()
      at.put("check.sh", "set -e\r\nfalse\r\n")
      at.git("add", "check.sh")
      return done
    },
    told: /check\.sh \(is not as git would check it out/
  },
  ...['"x.sh"', "a\nb.sh", "caf\xe9.sh"].map(
    (name): Attack => ({
      name: `ends of lines that git reads away in a file that no list of lines can name: ${JSON.stringify(name)}`,
      attack: (at) => {
        const path = Buffer.from(`${at.root}/${name}`, "latin1")
        at.put(".gitattributes", "* text=auto\n")
        at.put("x.sh", "set -e\nfalse\n")
        writeFileSync(path, "set -e\nfalse\n")
        const done = at.commit()
        writeFileSync(path, "set -e\r\nfalse\r\n")
        at.git("add", "--all")
        return done
      },
      told: /\.sh"? \(is not as git would check it out/
    })
  ),
  {
    name: "ends of lines that git reads away in a folder whose name is not UTF-8",
    attack: (at) => {
      const folder = Buffer.from(`${at.root}/caf\xe9`, "latin1")
      const path = Buffer.concat([folder, Buffer.from("/check.sh")])
      mkdirSync(folder)
      at.put(".gitattributes", "* text=auto\n")
      writeFileSync(path, "set -e\nfalse\n")
      const done = at.commit()
      writeFileSync(path, "set -e\r\nfalse\r\n")
      at.git("add", "--all")
      return done
    },
    told: /check\.sh \(is not as git would check it out/
  },
  {
    name: "ends of lines that git reads away, with a filter of the user's for another name that reads alike",
    attack: (at) => {
      const path = Buffer.from(`${at.root}/caf\xe9.sh`, "latin1")
      at.git("config", "filter.strip.clean", "cat")
      at.put(".gitattributes", "* text=auto\ncaf\uFFFD.sh filter=strip\n")
      writeFileSync(path, "set -e\nfalse\n")
      const done = at.commit()
      writeFileSync(path, "set -e\r\nfalse\r\n")
      at.git("add", "--all")
      return done
    },
    told: /\.sh \(is not as git would check it out/
  },
  {
    name: "a keyword that git reads away",
    attack: (at) => {
      at.put(".gitattributes", "*.mjs ident filter=missing\n")
      at.put("src/a.mjs", 'eval("$Id$")\n')
      const done = at.commit()
      at.put("src/a.mjs", 'eval("$Id: process.exit(0) $")\n')
      at.git("add", "src/a.mjs")
      return done
    },
    told: /src\/a\.mjs \(is not as git would check it out/
  },
  {
    name: "a submodule that has lost its .git and holds files",
    attack: (at) => {
      mkdirSync(join(at.root, "library"))
      at.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},library`)
      at.git("commit", "--quiet", "-m", "work")
      at.put("library/index.mjs", forged)
      return at.git("rev-parse", "HEAD")
    },
    told: /library \(holds files that are not a checkout of its submodule/
  },
  {
    name: "a submodule in the place of a folder of files",
    attack: (at) => {
      at.git("rm", "--cached", "--quiet", "-r", "tools")
      at.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},tools`)
      at.git("commit", "--quiet", "-m", "work")
      return at.git("rev-parse", "HEAD")
    },
    told: /tools \(holds files that are not a checkout of its submodule/
  },
  {
    name: "a submodule whose own index was told otherwise",
    attack: (at) => {
      mkdirSync(join(at.root, "library"))
      const inner = (...args: ReadonlyArray<string>) => at.git("-C", "library", ...args)
      inner("init", "--quiet")
      at.put("library/index.mjs", honest)
      inner("add", "--all")
      inner("commit", "--quiet", "-m", "library")
      const done = at.commit()
      at.put("library/index.mjs", forged)
      inner("add", "index.mjs")
      exchange(
        join(at.root, "library/.git/index"),
        inner("rev-parse", ":index.mjs"),
        inner("rev-parse", "HEAD:index.mjs")
      )
      return done
    },
    told: /library/
  },
  {
    name: "a submodule whose repository says to ignore a file",
    attack: (at) => {
      mkdirSync(join(at.root, "library"))
      at.git("-C", "library", "init", "--quiet")
      at.put("library/index.mjs", honest)
      at.git("-C", "library", "add", "--all")
      at.git("-C", "library", "commit", "--quiet", "-m", "library")
      const done = at.commit()
      at.put("library/.git/info/exclude", "conftest.py\n")
      at.put("library/conftest.py", forged)
      return done
    },
    told: /library/
  },
  {
    name: "a file that hides itself beside files of the commit",
    attack: (at) => {
      const done = at.work()
      at.put(".git/info/exclude", "/.reprise/\n")
      at.put("src/.gitignore", ".gitignore\nGNUmakefile\n")
      at.put("src/GNUmakefile", "all:\n")
      return done
    },
    told: /src\/\.gitignore \(hides files and is in no commit/
  },
  {
    name: "a folder that hides itself and is of no tool",
    attack: (at) => {
      const done = at.work()
      at.put(".cargo/.gitignore", "*\n")
      at.put(".cargo/config.toml", "[build]\n")
      return done
    },
    told: /\.cargo\/ \(hides itself, and no commit says so/
  },
  {
    name: "a folder with the name of a tool's that is in the commit",
    attack: (at) => {
      at.put(".venv/kept.txt", "kept\n")
      const done = at.work()
      at.put(".venv/.gitignore", "*\n")
      at.put(".venv/conftest.py", "\n")
      return done
    },
    told: /\.venv\/\.gitignore \(hides files and is in no commit/
  },
  {
    name: "an entry of the index that names another content than the file has",
    attack: (at) => {
      const done = at.work()
      at.put("forged.tmp", forged)
      const hash = at.git("hash-object", "-w", "forged.tmp")
      rmSync(join(at.root, "forged.tmp"))
      at.git("update-index", "--cacheinfo", `100644,${hash},${check}`)
      return done
    },
    told: /tools\/check\.mjs/,
    shown: true
  },
  {
    name: "an entry that the index alone has",
    attack: (at) => {
      const done = at.work()
      at.put("evil.mjs", forged)
      at.git("add", "evil.mjs")
      return done
    },
    told: /evil\.mjs/,
    shown: true
  }
]

layer(adapters, { excludeTestServices: true })("the tree that gates run on", (it) => {
  it.effect.each(attacks)("is not that of the commit with $name", isRefused)

  it.effect("is checked again when a file has changed within the same second, whatever its other times say", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = at.work()
      for (let round = 0; round < 5; round++) {
        at.put(check, honest)
        assert.strictEqual(yield* at.detailOf(done), "verified")
        forge(at, check, forged)
        assert.match(yield* at.detailOf(done), /tools\/check\.mjs/)
      }
    })
  )

  it.effect("is checked again when the attributes of the commit have changed", () =>
    Effect.gen(function* () {
      const at = yield* scene
      at.put("crlf.txt", "one\r\n")
      at.put(".gitattributes", "*.txt text eol=crlf\n")
      assert.strictEqual(yield* at.detailOf(at.commit()), "verified")
      at.put(".gitattributes", "*.txt -text\n")
      at.git("add", ".gitattributes")
      at.git("commit", "--quiet", "-m", "attributes")
      assert.match(yield* at.detailOf(at.git("rev-parse", "HEAD")), /crlf\.txt/)
    })
  )
})
