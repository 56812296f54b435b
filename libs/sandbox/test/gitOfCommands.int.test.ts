/** The git that commands find on macOS, with real git and sh. Nothing here runs in Seatbelt, which would keep them from `.git` itself. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { findProgram, hardenedSettings } from "@reprise/process"
import { Effect } from "effect"
import { placeClone, readyClone, takeNews } from "../src/clone/clones.ts"
import { gitRepositoryOf } from "../src/git/askGit.ts"
import { redirectingGit } from "../src/git/gitProgram.ts"

const made = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "reprise-git of 'commands'-")))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(
  Effect.flatMap((root) =>
    Effect.gen(function* () {
      const home = join(root, "home")
      const top = join(root, "my 'work'")
      const environment = { PATH: process.env["PATH"], HOME: home }
      const at = (cwd: string, command: string, more: Record<string, string> = {}) =>
        execFileSync("/bin/sh", ["-c", command], {
          cwd,
          encoding: "utf8",
          stdio: "pipe",
          env: { ...environment, ...more }
        }).trim()
      mkdirSync(home)
      at(home, "git config --global user.name A; git config --global user.email a@b.invalid")
      at(home, "git config --global protocol.file.allow always; git init -q inner; git init -q other")
      at(join(home, "inner"), "git commit -q --allow-empty -m inner")
      at(join(home, "other"), "git commit -q --allow-empty -m other")
      mkdirSync(top)
      at(top, "git init -q; git commit -q --allow-empty -m first; git submodule --quiet add ../home/inner 'a sub'")
      at(top, "mkdir -p 'in it/deep'; echo x >'in it/file'; git add .; git commit -qm second")
      const git = (yield* findProgram("git", environment)) ?? assert.fail("no git")
      /** Commands of a working tree, on whose `PATH` this git is. */
      const commandsIn = Effect.fnUntraced(function* (workspace: string) {
        const found = yield* Effect.promise(() => gitRepositoryOf(workspace, environment))
        const repository = found ?? assert.fail("no repository")
        const placed = yield* Effect.promise(() =>
          placeClone(join(root, "the clones"), repository, { engine: "seatbelt", id: "c", of: "agent" })
        )
        yield* readyClone(repository, placed, environment)
        const folder = join(root, "own path")
        mkdirSync(folder)
        writeFileSync(join(folder, "git"), redirectingGit(git, placed.directories))
        const inside = join(root, "inside")
        writeFileSync(inside, `#!/bin/sh\nexec ${[git, ...hardenedSettings].join(" ")} "$@"\n`)
        for (const program of [join(folder, "git"), inside]) chmodSync(program, 0o700)
        const run = (command: string, cwd = workspace, more: Record<string, string> = {}) =>
          at(cwd, command, { PATH: `${folder}:${environment.PATH}`, ...more })
        return { run, clone: placed.clone.folder, take: takeNews(repository, placed, inside, environment) }
      })
      return { at, home, root, top, commandsIn }
    })
  )
)

const subjects = "git log --format=%s"

describe("the git of commands that no mount shows their clone", () => {
  it.live("commits into the clone, from any folder of the tree, and the repository gets it when it is taken in", () =>
    Effect.gen(function* () {
      const { at, commandsIn, root, top } = yield* made
      const { clone, run, take } = yield* commandsIn(top)
      run("cd 'in it/deep'; echo y >../new; git add ../new; git commit -qm 'it'\\''s new'")
      run(
        `cd "my 'work'"; echo z >two; cd ..; git -C "my 'work'" -C '' -c a.b=c -C 'in it' -C .. add two; git -C "$PWD/my 'work'" commit -qm two`,
        root
      )
      assert.strictEqual(run(subjects), "two\nit's new\nsecond\nfirst")
      assert.strictEqual(
        run("git status --short; git rev-parse --show-prefix --absolute-git-dir", join(top, "in it")),
        `in it/\n${clone}`
      )
      assert.strictEqual(at(top, subjects), "second\nfirst")
      yield* take
      assert.strictEqual(at(top, subjects), "two\nit's new\nsecond\nfirst")
      assert.strictEqual(at(top, "git status --short; git fsck --strict 2>/dev/null"), "")
    }).pipe(Effect.scoped)
  )

  it.live("leaves every other repository as it is, whichever way it is named", () =>
    Effect.gen(function* () {
      const { at, commandsIn, home, root, top } = yield* made
      const { run } = yield* commandsIn(top)
      const other = join(home, "other")
      const commit = "commit -q --allow-empty -m"
      run(`git ${commit} 1`, other)
      run(
        `git -C ${JSON.stringify(other)} ${commit} 2; git --git-dir=${JSON.stringify(join(other, ".git"))} ${commit} 3`
      )
      run(`git --git-dir ${JSON.stringify(join(other, ".git"))} ${commit} 4`)
      run(`git ${commit} 5`, top, { GIT_DIR: join(other, ".git") })
      assert.strictEqual(at(other, subjects), "5\n4\n3\n2\n1\nother")
      run(`git init -q "$HOME/a new" && git -C "$HOME/a new" ${commit} own; git clone -q "$HOME/other" "$HOME/copy"`)
      assert.strictEqual(at(join(home, "a new"), subjects), "own")
      assert.strictEqual(at(join(home, "copy"), "git log -1 --format=%s; ls -A"), "5\n.git")
      run(`mkdir made; cd made; git init -q .; git ${commit} nested`)
      assert.strictEqual(at(join(top, "made"), subjects), "nested")
      assert.isTrue(existsSync(join(top, "made/.git/HEAD")))
      assert.strictEqual(at(top, subjects), "second\nfirst")
      assert.match(run("git status 2>&1 || true", root), /not a git repository/)
    }).pipe(Effect.scoped)
  )

  it.live("commits in a submodule into the clone of that", () =>
    Effect.gen(function* () {
      const { at, commandsIn, top } = yield* made
      const { clone, run, take } = yield* commandsIn(top)
      const sub = join(top, "a sub")
      run("cd 'a sub'; git checkout -q -b work; echo i >i; git add i; git commit -qm within")
      assert.strictEqual(run("git rev-parse --absolute-git-dir --show-toplevel", sub), `${clone}/modules/a sub\n${sub}`)
      assert.strictEqual(at(sub, subjects), "inner")
      yield* take
      assert.strictEqual(at(sub, `${subjects}; git status --short`), "within\ninner")
      run("git add 'a sub'; git commit -qm outer")
      yield* take
      assert.strictEqual(at(top, "git log -1 --format=%s; git status --short"), "outer")
    }).pipe(Effect.scoped)
  )

  it.live("commits in a worktree into the clone of that, and nothing else", () =>
    Effect.gen(function* () {
      const { at, commandsIn, root, top } = yield* made
      const tree = join(root, "a tree")
      at(top, `git worktree add -q -b r1 ${JSON.stringify(tree)}`)
      const { run, take } = yield* commandsIn(tree)
      run("echo w >w; git add w; git commit -qm w")
      assert.strictEqual(at(tree, subjects), "second\nfirst")
      yield* take
      assert.strictEqual(at(tree, "git log -1 --format='%s %D'; git status --short"), "w HEAD -> r1")
      assert.strictEqual(at(top, subjects), "second\nfirst")
      assert.strictEqual(run("git rev-parse --absolute-git-dir", top), join(top, ".git"))
    }).pipe(Effect.scoped)
  )
})
