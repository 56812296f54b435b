/** What an author leaves in the folders of a commit that git itself never shows, and that tools obey. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { layer } from "@effect/vitest"
import { type Attack, forged, honest, isRefused, putDeep, putSocket } from "./support/hostileAuthor.ts"
import { adapters } from "./support/repository.ts"

const attacks: ReadonlyArray<Attack> = [
  ...[".git", ".Git", ".git ", "git~1", ".g\u200cit"].map(
    (name): Attack => ({
      name: `a folder ${JSON.stringify(name)} beside files of the commit`,
      attack: (at) => {
        const done = at.work()
        mkdirSync(join(at.root, "src", name))
        return done
      },
      told: /src\/\S+ ?\S* \(has tools, and not git, take its folder for another repository/
    })
  ),
  {
    name: "a file .git beside files of the commit",
    attack: (at) => {
      const done = at.work()
      at.put("src/.git", "gitdir: ../nothing\n")
      return done
    },
    told: /src\/\.git \(has tools/
  },
  {
    name: "a link .git beside files of the commit",
    attack: (at) => {
      const done = at.work()
      symlinkSync("../nothing", join(at.root, "src/.git"))
      return done
    },
    told: /src\/\.git \(has tools/
  },
  {
    name: "a folder .git with rules of its own, which hide the files of the commit from tools",
    attack: (at) => {
      const done = at.work()
      at.put("src/.git/info/exclude", "*\n")
      return done
    },
    told: /src\/\.git \(has tools/
  },
  {
    name: "a folder .git in a submodule, under another spelling",
    attack: (at) => {
      mkdirSync(join(at.root, "library"))
      at.git("-C", "library", "init", "--quiet")
      at.put("library/index.mjs", honest)
      at.git("-C", "library", "add", "--all")
      at.git("-C", "library", "commit", "--quiet", "-m", "library")
      const done = at.commit()
      mkdirSync(join(at.root, "library/.GIT"))
      return done
    },
    told: /library/
  },
  {
    name: "a named pipe, which make takes for a target that is made",
    attack: (at) => {
      const done = at.work()
      execFileSync("mkfifo", [join(at.root, "src/test")])
      return done
    },
    told: /src\/test \(is a named pipe, which no commit can hold: remove it\)/
  },
  {
    name: "a named pipe in the place of an empty folder that was there before",
    attack: (at) => {
      const done = at.work()
      rmdirSync(join(at.root, "drafts"))
      execFileSync("mkfifo", [join(at.root, "drafts")])
      return done
    },
    told: /drafts \(is a named pipe/
  },
  {
    name: "a socket",
    attack: (at) => {
      const done = at.work()
      putSocket(join(at.root, "build"))
      return done
    },
    told: /build \(is a socket, which no commit can hold: remove it\)/
  },
  {
    name: "a named pipe deep in a folder that git does not list",
    attack: (at) => {
      const done = at.work()
      mkdirSync(join(at.root, "new/deep"), { recursive: true })
      execFileSync("mkfifo", [join(at.root, "new/deep/test")])
      return done
    },
    told: /new \(is a folder with pipes, sockets or folders that cannot be listed/
  },
  // For git these names are patterns: the whole tree, the top, or an error.
  ...[":", ":()a", ":!a"].map(
    (name): Attack => ({
      name: `a folder ${name} that hides itself`,
      attack: (at) => {
        const done = at.work()
        at.put(`${name}/.gitignore`, "*\n")
        at.put(`${name}/evil.test.js`, forged)
        return done
      },
      told: /:\S*\/ \(hides itself/
    })
  ),
  {
    name: "a named pipe in a folder :!a",
    attack: (at) => {
      const done = at.work()
      mkdirSync(join(at.root, ":!a"))
      execFileSync("mkfifo", [join(at.root, ":!a/test")])
      return done
    },
    told: /:!a \(is a folder with pipes/
  },
  {
    name: "rules in a folder : of the commit that no commit has",
    attack: (at) => {
      at.put(":/a.mjs", honest)
      const done = at.commit()
      at.put(":/.gitignore", "evil.test.js\n.gitignore\n")
      at.put(":/evil.test.js", forged)
      return done
    },
    told: /:\/\.gitignore \(hides files and is in no commit/
  },
  {
    name: "a folder that git cannot open because its path is too long",
    attack: (at) => {
      const done = at.work()
      putDeep(at.root, "src")
      return done
    },
    told: /src\/\d\S* \(/
  }
]

layer(adapters, { excludeTestServices: true })("the tree that gates run on", (it) => {
  it.effect.each(attacks)("is not that of the commit with $name", isRefused)
})
