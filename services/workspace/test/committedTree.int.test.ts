/**
 * A quality gate runs on the files of the working tree, and a reviewer reads a commit. What a command of the author can tell git,
 * so that git takes other files for those of the commit, is a change that is not committed.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { deflateSync } from "node:zlib"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { finishPhase } from "../src/work/phase/finishPhase.ts"
import { verifyClaims } from "../src/work/verify/verifyClaims.ts"
import { verifyCommit } from "../src/work/verify/verifyCommit.ts"
import { claims, finish, verify } from "./support/commands.ts"
import { adapters, repository } from "./support/repository.ts"

/** The test that a gate runs, as the commit has it and as an attacker has it: of the same length. */
const honest = "process.exit(1)\n"
const forged = "process.exit(0)\n"

/** For attacks: everything that a command may do in the tree and in git's directory. */
const scene = Effect.gen(function* () {
  const made = yield* repository
  const { root } = made
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
      cwd: root,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"]
    }).trim()
  let seconds = 0
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
    // Old, so that git does not read it again because it is as new as the index, and of another time than before.
    seconds += 1
    utimesSync(join(root, path), seconds, seconds)
  }
  put("tools/check.mjs", honest)
  put(".gitignore", "node_modules/\n*.log\n")
  git("add", "--all")
  git("commit", "--quiet", "-m", "begin")
  const base = git("rev-parse", "HEAD")
  const commit = (message = "work") => {
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "-m", message)
    return git("rev-parse", "HEAD")
  }
  const work = () => {
    put("src/a.mjs", "export const a = 1\n")
    return commit()
  }
  const detailOf = (reported: string) =>
    Effect.map(verifyCommit(verify(reported, base), made.place), (event) =>
      event._tag === "CommitRejected" ? `${event.reason}: ${event.detail}` : "verified"
    )
  return { ...made, base, git, put, commit, work, detailOf }
})
type Scene = Effect.Success<typeof scene>

/** Gives a file other content with the same size and modification time, so that only its change time tells. */
const forge = ({ root }: Pick<Scene, "root">, path: string, text: string) => {
  const { atime, mtime } = lstatSync(join(root, path))
  writeFileSync(join(root, path), text)
  utimesSync(join(root, path), atime, mtime)
}

/** Puts another hash in the place of one in an index or a commit-graph: what git knows of a file on the disk stays. */
const exchange = (file: string, from: string, to: string) => {
  const bytes = readFileSync(file).subarray(0, -20)
  Buffer.from(to, "hex").copy(bytes, bytes.indexOf(Buffer.from(from, "hex")))
  chmodSync(file, 0o644)
  writeFileSync(file, Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]))
}

/** Writes what git takes for a loose object of a name, whatever it holds. */
const putObject = ({ root }: Pick<Scene, "root">, hash: string, type: string, content: Buffer) => {
  const path = join(root, ".git/objects", hash.slice(0, 2), hash.slice(2))
  if (existsSync(path)) chmodSync(path, 0o644)
  writeFileSync(path, deflateSync(Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])))
}

interface Attack {
  readonly name: string
  /** Gives the commit that the author reports. */
  readonly attack: (scene: Scene) => string
  /** What the author is told. */
  readonly told: RegExp
  /** Whether `git status` shows it: then the rejection needs no reason. */
  readonly shown?: true
}

const check = "tools/check.mjs"

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
    name: "an entry of the index that names another content",
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
    told: /library \(holds files and is no checkout of its submodule/
  },
  {
    name: "a submodule in the place of a folder of files",
    attack: (at) => {
      at.git("rm", "--cached", "--quiet", "-r", "tools")
      at.git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},tools`)
      at.git("commit", "--quiet", "-m", "work")
      return at.git("rev-parse", "HEAD")
    },
    told: /tools \(holds files and is no checkout of its submodule/
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
      at.put(".git/info/exclude", "")
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

const falseObject = /^missing: git's object [0-9a-f]{40} does not hold what its name says/

/** What has git show other work than that of the commits. */
const falsified: ReadonlyArray<{
  readonly name: string
  readonly falsify: (scene: Scene) => string
  readonly told?: RegExp
}> = [
  {
    name: "a commit-graph that names another tree",
    falsify: (at) => {
      const done = at.work()
      at.git("commit-graph", "write", "--reachable")
      exchange(
        join(at.root, ".git/objects/info/commit-graph"),
        at.git("rev-parse", `${done}^{tree}`),
        at.git("rev-parse", `${at.base}^{tree}`)
      )
      assert.strictEqual(at.git("diff", at.base, done), "", "git shows nothing")
      return done
    },
    told: /^missing: git's objects\/info\/commit-graph does not say what the commits hold/
  },
  {
    name: "a false object in the place of a file of the work",
    falsify: (at) => {
      at.put(check, forged)
      const done = at.commit()
      putObject(at, at.git("rev-parse", `HEAD:${check}`), "blob", Buffer.from(honest))
      return done
    }
  },
  {
    name: "a false object in the place of a file as it was before",
    falsify: (at) => {
      const before = at.git("rev-parse", `HEAD:${check}`)
      at.put(check, forged)
      const done = at.commit()
      putObject(at, before, "blob", Buffer.from(forged))
      return done
    }
  },
  {
    name: "a false object in the place of a commit",
    falsify: (at) => {
      const done = at.work()
      const text = execFileSync("git", ["cat-file", "commit", done], { cwd: at.root, encoding: "utf8" })
      putObject(at, done, "commit", Buffer.from(text.replace("work", "harmless")))
      return done
    }
  }
]

layer(adapters, { excludeTestServices: true })("the work that a reviewer reads", (it) => {
  it.effect.each(falsified)("is refused if git shows other work: $name", ({ falsify, told = falseObject }) =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = falsify(at)
      assert.match(yield* at.detailOf(done), told)
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "missing" })
    })
  )

  it.effect("is refused if a folder that it leaves as it was is a false object", () =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = at.work()
      at.put(check, forged)
      const hash = at.git("hash-object", "-w", check)
      const tree = Buffer.concat([Buffer.from("100644 check.mjs\0"), Buffer.from(hash, "hex")])
      putObject(at, at.git("rev-parse", "HEAD:tools"), "tree", tree)
      at.git("read-tree", "HEAD")
      assert.strictEqual(at.git("status", "--porcelain"), "", "git sees nothing")
      assert.match(
        yield* at.detailOf(done),
        /^dirty-tree: Not committed: git's object [0-9a-f]{40} \(does not hold what its name says\)/
      )
    })
  )
})

/** What tools and users do. */
const allowed: ReadonlyArray<{ readonly name: string; readonly leave: (scene: Scene) => void }> = [
  {
    name: "folders that tools fill and hide by themselves",
    leave: (at) => {
      for (const folder of [".venv", ".pytest_cache", "packages/one/.ruff_cache", ".husky/_"]) {
        at.put(`${folder}/.gitignore`, "*\n")
        at.put(`${folder}/deep/conftest.py`, "\n")
      }
    }
  },
  {
    name: "what a .gitignore of the commit hides, with any name and rules inside",
    leave: (at) => {
      at.put("node_modules/one/.gitignore", "dist\n*.js\n")
      at.put("node_modules/one/.gitattributes", "* text\n")
      at.put("node_modules/one/conftest.py", "\n")
      at.put("run.log", "\n")
      at.put("packages/new/node_modules/two/.gitignore", "*\n")
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
    name: "names that git does not read from a list: a quote, a line break, and one that is no UTF-8",
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
    name: "folders without files",
    leave: (at) => void mkdirSync(join(at.root, "empty/deep"), { recursive: true })
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
  it.effect.each(attacks)("is not that of the commit with $name", ({ attack, shown, told }) =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = attack(at)
      if (shown !== true)
        assert.strictEqual(at.git("status", "--porcelain", "--", ":!.gitattributes"), "", "git sees nothing")
      const detail = yield* at.detailOf(done)
      assert.match(detail, /^dirty-tree: Not committed: /)
      assert.match(detail, told)
      const claimed = yield* verifyClaims(claims(at.base, [], { commit: done }), at.place)
      assert.containSubset(claimed, { _tag: "ClaimsRejected", reason: "dirty-tree" })
      const finished = yield* finishPhase(finish(undefined, done), at.place)
      assert.match(finished._tag === "PhaseBlocked" ? finished.dirty.join(", ") : finished._tag, told)
    })
  )

  it.effect.each(allowed)("is that of the commit with $name", ({ leave }) =>
    Effect.gen(function* () {
      const at = yield* scene
      const done = at.work()
      leave(at)
      assert.strictEqual(yield* at.detailOf(done), "verified")
    })
  )

  it.effect("is looked at anew when a file has changed within the same second, whatever its other times say", () =>
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

  it.effect("is looked at anew when the attributes of the commit have changed", () =>
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
