/** What an author may put into its clone so that the repository, or whoever looks at what was refused, obeys it. */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, git, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const hasObject = (here: Scene, hash: string) => {
  try {
    git(here, "cat-file", "-e", hash)
    return true
  } catch {
    return false
  }
}

/** Commits a submodule of a name, whose clone holds a commit. */
const submodule = (name: string, path: string) =>
  [
    `folder=$(git rev-parse --git-dir)/modules/${name}`,
    `mkdir -p "$folder" && git init -q --bare "$folder"`,
    'inner=$(git --git-dir="$folder" -c user.email=a@b.invalid -c user.name=A commit-tree -m inner "$(git --git-dir="$folder" mktree </dev/null)")',
    'git --git-dir="$folder" update-ref HEAD "$inner"',
    `printf '[submodule "%s"]\\n\\tpath = %s\\n\\turl = https://example.org/x.git\\n' '${name}' '${path}' >.gitmodules`,
    `git add .gitmodules && git update-index --add --cacheinfo "160000,$inner,${path}"`,
    "git commit -qm taken && git rev-parse HEAD"
  ].join("\n")

const modulesOf = ({ workspace }: Scene) =>
  readdirSync(join(workspace, ".git/modules"), { recursive: true }).map(String)

describe.skipIf(!sandboxed)("a clone in which a command wrote what it liked", () => {
  it.live("gives nothing that git's check refuses, however often it is tried", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const before = modulesOf(here)
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const said = yield* runIn(here, sandbox, submodule("../../x", "x"))
          const commit = said.trim().split("\n").at(-1) ?? ""
          for (let times = 0; times < 2; times++)
            assert.match((yield* sandbox.takeIn(here.workspace)) ?? "", /gitmodulesName/)
          assert.isFalse(hasObject(here, commit), said)
        })
      )
      assert.deepStrictEqual(modulesOf(here), before)
      assert.isFalse(existsSync(join(here.workspace, "../x")))
      assert.notInclude(readdirSync(join(here.workspace, ".git/objects")).join(), "tmp_objdir")
    })
  )

  it.live.each([
    ["inside of another's git directory", "sub/refs/replace", "x"],
    ["of which the tree is another's", "mine", "sub"]
  ] as const)("makes no git directory for a submodule %s", ([, name, path]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const before = modulesOf(here)
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, submodule(name, path))
          assert.isUndefined(yield* sandbox.takeIn(here.workspace))
        })
      )
      assert.strictEqual(git(here, "log", "-1", "--format=%s"), "taken")
      assert.deepStrictEqual(modulesOf(here), before)
    })
  )

  it.live("writes no address of a submodule into the repository", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) =>
        Effect.andThen(runIn(here, sandbox, submodule("mine", "mine")), sandbox.takeIn(here.workspace))
      )
      assert.notInclude(readFileSync(join(here.workspace, ".git/modules/mine/config"), "utf8"), "url")
      assert.strictEqual(git(here, "--git-dir=.git/modules/mine", "--work-tree=.", "log", "-1", "--format=%s"), "inner")
    })
  )

  it.live.each([
    ["that is there", "other", /is another branch/],
    ["by a name of another ref", "origin/main", /the name of something else/],
    ["by a name of a commit", "abcdef12", /the name of something else/],
    ["by a name below a remote's", "upstream/x", /the name of something else/],
    ["by a name that a shell runs", "'a$(x)'", /is odd/]
  ] as const)("moves and makes no branch %s", ([, name, why]) =>
    Effect.gen(function* () {
      const here = yield* scene
      git(here, "branch", "other")
      git(here, "remote", "add", "upstream", "https://example.org/x.git")
      git(here, "update-ref", "refs/remotes/origin/main", "HEAD")
      const before = git(here, "for-each-ref")
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const go = `git checkout -q ${name === "other" ? name : `--no-track -b ${name}`}`
          yield* runIn(here, sandbox, `${go} && git commit -q --allow-empty -m x`)
          assert.match((yield* sandbox.takeIn(here.workspace)) ?? "", why)
        })
      )
      assert.strictEqual(git(here, "for-each-ref"), before)
    })
  )

  it.live("takes a new branch, and the one from before, on which its author works again", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const own = git(here, "branch", "--show-current")
      yield* during(here, (sandbox) =>
        Effect.forEach(["-b topic", own, "topic"], (to) =>
          Effect.gen(function* () {
            yield* runIn(here, sandbox, `git checkout -q ${to} && git commit -q --allow-empty -m 'on ${to}'`)
            assert.isUndefined(yield* sandbox.takeIn(here.workspace))
            assert.strictEqual(git(here, "log", "-1", "--format=%s"), `on ${to}`)
          })
        )
      )
    })
  )

  it.live("is made where the tree of a submodule is gone", () =>
    Effect.gen(function* () {
      const here = yield* scene
      rmSync(join(here.workspace, "sub"), { recursive: true })
      assert.strictEqual(yield* during(here, (sandbox) => runIn(here, sandbox, "echo ran")), "ran\n")
    })
  )

  it.live("is no repository where it is put aside, and says nothing", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const refused = join(here.stateDirectory, "sandbox/refused")
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(here, sandbox, "git config core.fsmonitor evil && git commit -q --amend --allow-empty -m b")
          git(here, "-c", "user.email=a@b.invalid", "-c", "user.name=A", "commit", "-q", "--allow-empty", "-m", "mine")
          yield* sandbox.forget(here.workspace)
        })
      )
      const names = readdirSync(refused, { recursive: true }).map(String)
      assert.deepStrictEqual(
        names.filter((name) => /(^|\/)(HEAD|config[^/]*|hooks\/.*)$/.test(name)),
        []
      )
      assert.isAbove(names.length, 0)
    })
  )

  it.live("gives files of Git LFS whose content has their name, and no link", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const [good, forged, link] = ["good", "forged", "link"].map((text) =>
        createHash("sha256").update(text).digest("hex")
      )
      const at = (hash = "") => `lfs/objects/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`
      const put = (hash: string | undefined, how: string) =>
        `mkdir -p .git/${dirname(at(hash))} && ${how} .git/${at(hash)}`
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const commands = [
            put(good, "printf good >"),
            put(forged, "printf evil >"),
            put(link, `ln -s ${here.home}/.ssh/id_ed25519`),
            "git commit -q --allow-empty -m large"
          ]
          yield* runIn(here, sandbox, commands.join(" && "))
          yield* sandbox.takeIn(here.workspace)
        })
      )
      const files = readdirSync(join(here.workspace, ".git/lfs"), { recursive: true, withFileTypes: true })
      assert.deepStrictEqual(
        files.filter((entry) => !entry.isDirectory()).map(({ name }) => name),
        [good ?? ""]
      )
      const own = during(here, (sandbox) =>
        runIn(here, sandbox, "cat /run/reprise/lfs/objects/*/*/*; echo x >/run/reprise/lfs/x")
      )
      assert.match(yield* own, /^good.*Read-only/s)
    })
  )

  it.live.each([
    ["a link", (at: string) => `mkdir -p ${at}/lfs && ln -s out-linked/objects ${at}/lfs/objects`],
    ["a link above", (at: string) => `ln -s out-linked ${at}/lfs`],
    ["a file", (at: string) => `mkdir -p ${at}/lfs && echo x >${at}/lfs/objects`]
  ] as const)("is taken in where its folder of Git LFS is %s, without what is there", ([, make]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const hash = createHash("sha256").update("denied").digest("hex")
      const folder = join(here.workspace, "out-linked/objects", hash.slice(0, 2), hash.slice(2, 4))
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, hash), "denied")
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const link = make(".git").replace("out-linked", join(here.workspace, "out-linked"))
          yield* runIn(here, sandbox, `${link}; git commit -q --allow-empty -m large`)
          assert.isUndefined(yield* sandbox.takeIn(here.workspace))
        })
      )
      assert.strictEqual(git(here, "log", "-1", "--format=%s"), "large")
      assert.isFalse(existsSync(join(here.workspace, ".git/lfs")))
    })
  )

  it.live("lies where no setting lets commands write", () =>
    Effect.gen(function* () {
      const here = yield* scene
      for (const path of [".reprise/sandbox", ".reprise/sandbox/.git/clones"]) {
        const failed = yield* during(
          here,
          (sandbox) => Effect.flip(sandbox.shellFor(here.workspace, "author")),
          {},
          { write: [path] }
        )
        assert.match(failed.message, /keeps its own state/)
      }
    })
  )
})
