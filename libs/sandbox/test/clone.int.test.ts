/** What commands see of git, and how what they commit gets into the repository. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, git, run, runIn, until } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

/** As its user does; without a name nothing changes. Gives the commit. */
const commitMine = (here: Scene, name?: string) => {
  if (name !== undefined) {
    writeFileSync(join(here.workspace, name), `${name}\n`)
    git(here, "add", name)
  }
  git(here, "-c", "user.email=a@b.invalid", "-c", "user.name=A", "commit", "-q", "--allow-empty", "-m", "mine")
  return git(here, "rev-parse", "HEAD")
}

const commit = (name: string, text = name) => `echo ${text} >${name}; git add ${name}; git commit -qm ${name}`
const subjects = (here: Scene, of = "HEAD") => git(here, "log", "--format=%s", of).split("\n")

describe.skipIf(!sandboxed)("the clone that commands see in place of git's directory", () => {
  it.live("gives what a command committed to the repository when it is tidied, with its index, and not before", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, `${commit("new")}; git rm -q reprise.toml -f 2>/dev/null; echo y >>new`)
          assert.deepStrictEqual(subjects(here), ["second", "first"])
          yield* sandbox.tidy(here.workspace)
          assert.deepStrictEqual(subjects(here), ["new", "second", "first"])
          assert.strictEqual(git(here, "diff", "--cached", "--name-only"), "")
          assert.strictEqual(git(here, "diff", "--name-only", "--", "new"), "new")
          git(here, "fsck", "--strict")
        })
      )
    })
  )

  it.live("gives a commit of many files", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const many = "mkdir many; for n in $(seq 300); do echo $n >many/$n; done; git add many; git commit -qm many"
          yield* runIn(here, sandbox, many)
          assert.isUndefined(yield* sandbox.takeIn(here.workspace))
        })
      )
      assert.strictEqual(git(here, "log", "-1", "--format=%s"), "many")
      git(here, "fsck", "--strict")
    })
  )

  it.live("serves a command that collects garbage, and makes worktrees in which later ones commit", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) =>
        Effect.forEach(
          [
            `${commit("a")} && git gc -q && git worktree add -q inner && echo one`,
            `cd inner && ${commit("newer")} && echo two`,
            "git log -1 --format=%s inner --"
          ],
          (command) => runIn(here, sandbox, command)
        )
      )
      assert.deepStrictEqual(said, ["one\n", "two\n", "newer\n"])
    })
  )

  it.live("gives no object that is not what its name says", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(
            here,
            sandbox,
            `${commit("a", "good")}; echo evil >b; git add b; cp -f "$(git rev-parse --git-path objects)"/$(git hash-object b | sed 's,^..,&/,') "$(git rev-parse --git-path objects)"/$(git hash-object a | sed 's,^..,&/,')`
          )
          yield* sandbox.tidy(here.workspace)
        })
      )
      assert.deepStrictEqual(subjects(here), ["second", "first"])
      git(here, "fsck", "--strict")
    })
  )

  it.live("keeps what an author staged and stashed for its next command, also when its process was killed", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        runIn(here, sandbox, `${commit("a")}; echo s >>a; git stash -q; echo t >staged; git add staged`)
      )
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const said = yield* runIn(
            here,
            sandbox,
            "git log --format=%s -1; git stash list; git diff --cached --name-only"
          )
          assert.match(said, /^a\nstash@\{0\}: .*\nstaged\n$/)
          yield* sandbox.tidy(here.workspace)
          assert.deepStrictEqual(subjects(here), ["a", "second", "first"])
        })
      )
    })
  )

  it.live("follows what its user committed between two turns", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, commit("a"))
          yield* sandbox.tidy(here.workspace)
          commitMine(here, "mine")
          const said = yield* runIn(here, sandbox, `git status --short -- mine a; ${commit("b")}; git log --format=%s`)
          assert.strictEqual(said, "b\nmine\na\nsecond\nfirst\n")
          yield* sandbox.tidy(here.workspace)
          assert.deepStrictEqual(subjects(here), ["b", "mine", "a", "second", "first"])
        })
      )
    })
  )

  it.live(
    "gives nothing where its user moved the branch meanwhile, until the author has committed on top of that",
    () =>
      Effect.gen(function* () {
        const here = yield* scene
        yield* during(here, (sandbox) =>
          Effect.gen(function* () {
            yield* runIn(here, sandbox, `${commit("a")}; echo '# more' >>shared.gitconfig; git commit -qam more`)
            const mine = commitMine(here, "mine")
            assert.include(yield* sandbox.takeIn(here.workspace), `Run 'git reset ${mine}'`)
            assert.deepStrictEqual(subjects(here), ["mine", "second", "first"])
            yield* runIn(here, sandbox, `git reset -q ${mine}; git add a shared.gitconfig; git commit -qm again`)
            yield* sandbox.tidy(here.workspace)
            assert.deepStrictEqual(subjects(here), ["again", "mine", "second", "first"])
            assert.strictEqual(git(here, "status", "--short", "--", "a", "mine", "shared.gitconfig"), "")
          })
        )
      })
  )

  it.live("gives a history that an author wrote anew, such as an amended commit", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, commit("a"))
          yield* sandbox.tidy(here.workspace)
          yield* runIn(here, sandbox, "git commit -q --amend -m better")
          yield* sandbox.tidy(here.workspace)
        })
      )
      assert.deepStrictEqual(subjects(here), ["better", "second", "first"])
    })
  )

  it.live("goes to another branch with its author, but to none that another working tree has", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, `git checkout -q -b topic; ${commit("a")}`)
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(git(here, "symbolic-ref", "HEAD"), "refs/heads/topic")
          assert.deepStrictEqual(subjects(here), ["a", "second", "first"])
          yield* runIn(here, sandbox, `git checkout -q second; ${commit("b")}`)
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(git(here, "symbolic-ref", "HEAD"), "refs/heads/topic")
          assert.deepStrictEqual(subjects(here, "second"), ["second", "first"])
        })
      )
    })
  )

  it.live("has what is committed in submodules, too", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const said = yield* runIn(
            here,
            sandbox,
            `cd sub; git config user.email a@b.invalid; git config user.name A; git checkout -q -b work; ${commit("inner")}; cd ..; git add sub; git commit -qm outer`
          )
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(git(here, "log", "-1", "--format=%s"), "outer", said)
          assert.strictEqual(git(here, "-C", "sub", "log", "-1", "--format=%s"), "inner")
          assert.strictEqual(git(here, "status", "--short", "sub"), "")
        })
      )
    })
  )

  it.live("has the submodules that its author added", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const add = `git -c protocol.file.allow=always submodule --quiet add --force ${here.home}/other deep/added`
          const said = yield* runIn(here, sandbox, `${add}; git commit -qam outer`)
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(git(here, "log", "-1", "--format=%s"), "outer", said)
          assert.strictEqual(git(here, "status", "--short", "deep"), "")
          const inner = { ...here, workspace: join(here.workspace, "deep/added") }
          assert.strictEqual(git(inner, "rev-parse", "--show-toplevel"), inner.workspace)
          assert.strictEqual(git(inner, "status", "--short"), "")
          assert.strictEqual(git(inner, "log", "-1", "--format=%s"), "first")
          const again = `cd deep/added; git config user.email a@b.invalid; git config user.name A; ${commit("inner")}; cd ../..; git commit -qam again`
          yield* runIn(here, sandbox, again)
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(git(here, "log", "-1", "--format=%s"), "again")
          assert.strictEqual(git(inner, "log", "-1", "--format=%s"), "inner")
        })
      )
    })
  )

  it.live.each(["a worktree", "a worktree of a bare repository"])("is that of %s alone", (kind) =>
    Effect.gen(function* () {
      const here = yield* scene
      const tree = join(here.stateDirectory, "worktrees/r1")
      mkdirSync(join(tree, ".."), { recursive: true })
      const bare = join(here.home, "bare.git")
      if (kind === "a worktree") git(here, "worktree", "add", "-q", "-b", "r1", tree)
      else {
        git(here, "clone", "-q", "--bare", here.workspace, bare)
        git(here, `--git-dir=${bare}`, "worktree", "add", "-q", "-b", "r1", tree)
      }
      const own = { ...here, workspace: tree }
      git(own, "config", "user.email", "a@b.invalid")
      git(own, "config", "user.name", "A")
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const said = yield* runIn(
            own,
            sandbox,
            `${commit("a")}; git status --short; echo x >${here.workspace}/.git/x`
          )
          if (kind === "a worktree") assert.include(said, "Read-only file system")
          yield* sandbox.tidy(tree)
          assert.strictEqual(git(own, "log", "-1", "--format=%s %D"), "a HEAD -> r1")
          assert.strictEqual(git(own, "status", "--short"), "")
        })
      )
    })
  )

  it.live(
    "is gone when its run lets go of the workspace, or the workspace is gone; what could not be taken in is kept",
    () =>
      Effect.gen(function* () {
        const here = yield* scene
        const clones = join(here.stateDirectory, "sandbox/.git/clones")
        yield* during(here, (sandbox) =>
          Effect.gen(function* () {
            yield* runIn(here, sandbox, commit("a"))
            yield* sandbox.forget(here.workspace)
            assert.deepStrictEqual(subjects(here), ["a", "second", "first"])
            assert.deepStrictEqual(readdirSync(clones), [])
            yield* runIn(here, sandbox, commit("b"))
            commitMine(here)
            assert.include(yield* sandbox.takeIn(here.workspace), "git reset")
            yield* sandbox.forget(here.workspace)
            assert.deepStrictEqual(readdirSync(clones), [])
            assert.lengthOf(readdirSync(join(here.stateDirectory, "sandbox/refused")), 1)
            const tree = join(here.home, "tree")
            git(here, "worktree", "add", "-q", tree)
            yield* runIn({ ...here, workspace: tree }, sandbox, "true")
            assert.isAbove(readdirSync(clones).length, 1)
            git(here, "worktree", "remove", "--force", tree)
          })
        )
        yield* during(here, () => until(() => readdirSync(clones).length === 0))
      })
  )

  it.live("of a quality gate begins anew, and what is committed there goes nowhere", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const gate = sandbox.gateShell(here.workspace, RunId.make("r1"))
          assert.strictEqual(yield* run(here, yield* gate, `${commit("a")}; git log -1 --format=%s`), "a\n")
          yield* sandbox.tidy(here.workspace)
          assert.strictEqual(yield* run(here, yield* gate, "git log -1 --format=%s"), "second\n")
          assert.deepStrictEqual(subjects(here), ["second", "first"])
        })
      )
    })
  )
})
