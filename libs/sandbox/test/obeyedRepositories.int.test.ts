/** What makes a repository inside of a workspace one that git would obey outside of the sandbox: pointers, links, trees, hooks. */
import { execFileSync } from "node:child_process"
import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { evil, make } from "./support/nestedCommands.ts"
import { during, environmentOf, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const isThere = ({ workspace }: Scene, name: string) => existsSync(join(workspace, name, ".git"))

const hook = (path: string) =>
  `mkdir -p $(dirname ${path}); printf '#!/bin/sh\\necho %s\\n' "$RANDOM evil" > ${path}; chmod +x ${path}`
const plain = (name: string) => `${make(name)}; rm -rf ${name}/.git/hooks`

/** What the user made before, a command, and what must have gone after it. */
const ways: ReadonlyArray<readonly [title: string, before: string, command: string, gone: string]> = [
  [
    "behind a link to a pointer, which git reads from beside the link",
    "",
    `mkdir -p s1 a/b; ${evil("y")}; ${make("z")}; mv y/.git moved; mv z/.git a/moved; echo 'gitdir: ../moved' > a/b/file; ln -s ../a/b/file s1/.git`,
    "s1/.git"
  ],
  [
    "behind a pointer that goes up behind a link",
    "",
    `mkdir -p s1 far/deep; ${evil("y")}; ${make("z")}; mv y/.git far/moved; mv z/.git s1/moved; ln -s ../far/deep s1/l; echo 'gitdir: l/../moved' > s1/.git`,
    "s1/.git"
  ],
  [
    "behind a pointer that ends with line breaks, which git leaves out",
    "",
    `mkdir s1; ${evil("y")}; mv y/.git moved; printf 'gitdir: ../moved\\r\\n\\n' > s1/.git`,
    "s1/.git"
  ],
  [
    "behind a pointer of nothing but line breaks, and a letter",
    "",
    "mkdir s1; { printf 'gitdir: '; yes '' | head -n 100000; printf x; } > s1/.git",
    "s1/.git"
  ],
  [
    "behind a pointer into git's own folder, whatever is there",
    "",
    "git init -q --bare .git/inner; mkdir s1; echo 'gitdir: ../.git/inner' > s1/.git",
    "s1/.git"
  ],
  [
    "behind a link to what may be made in git's own folder later",
    "",
    "mkdir s1; ln -s ../.git/later s1/.git",
    "s1/.git"
  ],
  [
    "behind a link to a path of git's own folder that is no text",
    "",
    `F=$(printf '.git/n\\377'); git init -q --bare "$F"; mkdir s1; ln -s "../$F" s1/.git`,
    "s1/.git"
  ],
  [
    "behind a pointer into a cache, whatever is there",
    "",
    `git init -q --bare .reprise/sandbox/caches/r; C=$(awk '$5 ~ /sandbox.caches$/ {print $4}' /proc/self/mountinfo); mkdir s1; echo "gitdir: ../.reprise/sandbox/.git/caches/\${C##*/caches/}/r" > s1/.git`,
    "s1/.git"
  ],
  ["behind a link into git's own folder", "", `${evil(".git/inner")}; ln -s .git/inner docs`, "docs"],
  [
    "behind links, the last of which leads into git's own folder",
    "",
    `${evil(".git/inner")}; ln -s .git/inner two; ln -s two one`,
    "one/.git"
  ],
  [
    "behind a link into a cache",
    "",
    `${evil(".reprise/sandbox/caches/r")}; C=$(awk '$5 ~ /sandbox.caches$/ {print $4}' /proc/self/mountinfo); ln -s ".reprise/sandbox/.git/caches/\${C##*/caches/}/r" docs`,
    "docs"
  ],
  [
    "by a hook in the tree of a worktree that a command added",
    "",
    `git worktree add -q -b made t; ${hook("t/.husky/_/post-checkout")}`,
    "t/.husky/_/post-checkout"
  ],
  [
    "as a second tree of the workspace's repository",
    "",
    `mkdir docs; echo "gitdir: $PWD/.git" > docs/.git; ${hook("docs/.husky/_/post-checkout")}`,
    "docs/.git"
  ],
  [
    "that was there, with its hooks elsewhere than before",
    `${plain("mine")}; mkdir mine/good; ln -s ../good mine/.git/hooks`,
    `${hook("mine/evil/pre-commit")}; ln -sfn ../evil mine/.git/hooks`,
    "mine/.git"
  ],
  [
    "that was there, with other hooks where they are",
    `${plain("mine")}; mkdir mine/good; ln -s ../good mine/.git/hooks`,
    `${hook("mine/good/pre-commit")}; touch mine/.git/config`,
    "mine/.git"
  ],
  [
    "that was there, with another hook for husky to run",
    `${make("mine")}; git -C mine config core.hooksPath .husky/_; ${hook("mine/.husky/_/pre-commit")}`,
    `${hook("mine/.husky/pre-commit")}; touch mine/.git/config`,
    "mine/.git"
  ],
  [
    "that was there, with another program in a command line",
    `${make("mine")}; git -C mine config core.fsmonitor './query.sh x'; ${hook("mine/query.sh")}`,
    `echo evil >> mine/query.sh; touch mine/.git/config`,
    "mine/.git"
  ],
  [
    "without a working tree, with hooks in the tree that it names",
    "git config --global core.hooksPath .own-hooks",
    `git init -q --bare docs; git -C docs config core.bare false; git -C docs config core.worktree ../tree; mkdir tree; echo 'gitdir: ../docs' > tree/.git; ${hook("tree/.own-hooks/post-checkout")}`,
    "docs/HEAD"
  ],
  [
    "with git's own folder as its tree",
    "",
    `${make("made")}; git -C made config core.worktree ../../.git`,
    "made/.git"
  ],
  ["with the whole workspace as its tree", "", `${make("made")}; git -C made config core.worktree ../..`, "made/.git"],
  [
    "with another repository's own folder as its tree",
    "",
    `${make("made")}; ${make("theirs")}; echo 'gitdir: ../../made/.git' > theirs/.git/.git; git -C made config core.worktree ../../theirs/.git`,
    "made/.git"
  ],
  [
    "with a tree that is named in letters which are not ASCII, and leads elsewhere",
    "",
    `${make("made")}; ln -s /tmp made/.git/é; git -C made config core.worktree é`,
    "made/.git"
  ],
  [
    "that was there, with another file that it includes by a name in letters which are not ASCII",
    `${make("ü")}; git -C ü config include.path "$PWD/ü/inc"; touch ü/inc`,
    "git config --file ü/inc core.fsmonitor ./run",
    "ü/.git"
  ],
  [
    "by an address that starts a program of a name with signs",
    "",
    `${make("made")}; git -C made remote add o a+b-c.d::x`,
    "made/.git"
  ]
]

describe.skipIf(!sandboxed)("what git would obey outside of the sandbox is moved away", () => {
  it.live.each(ways)("%s", ([, before, command, gone]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const user = { cwd: here.workspace, env: { ...process.env, HOME: here.home } }
      execFileSync("/bin/bash", ["-c", before], user)
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, command))
      assert.isUndefined(lstatSync(join(here.workspace, gone), { throwIfNoEntry: false }), said)
      assert.include(said, "was moved to .reprise/sandbox/refused")
    })
  )

  it.live.each([
    [
      "a pointer into git's own folder",
      "git init -q --bare .git/inner; mkdir mine; echo 'gitdir: ../.git/inner' > mine/.git"
    ],
    [
      "a repository whose common directory lies in git's own folder",
      "git init -q --bare .git/inner; git init -q mine; echo ../../.git/inner > mine/.git/commondir"
    ],
    [
      "a configuration that includes a file whose path is no text",
      `${make("mine")}; git -C mine config include.path "$(printf 'n\\377')"`
    ]
  ] as const)("also if it was there, where nobody would see that a command changes it: %s", ([, before]) =>
    Effect.gen(function* () {
      const here = yield* scene
      execFileSync("/bin/bash", ["-c", before], { cwd: here.workspace })
      yield* during(here, (sandbox) => sandbox.tidy(here.workspace))
      assert.isUndefined(lstatSync(join(here.workspace, "mine", ".git"), { throwIfNoEntry: false }))
    })
  )

  it.live("in a worktree of a run too, where a command may write '.reprise'", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const workspace = join(here.stateDirectory, "worktrees", "run")
      execFileSync("git", ["worktree", "add", "-q", "-b", "run", workspace], { cwd: here.workspace })
      const inRun = { ...here, workspace: realpathSync(workspace) }
      yield* during(inRun, (sandbox) =>
        Effect.gen(function* () {
          yield* runIn(inRun, sandbox, evil(".reprise/x"))
          assert.isFalse(isThere(inRun, join(".reprise", "x")))
          const module = join(here.workspace, ".git", "modules", "sub")
          const tree = `echo 'gitdir: ${inRun.workspace}/y/.git' > ${module}/.git; git -C y config core.worktree ${module}`
          yield* runIn(inRun, sandbox, `${make("y")}; ${tree}`)
          assert.isFalse(existsSync(join(module, ".git")))
          assert.isFalse(isThere(inRun, "y"))
        })
      )
    })
  )

  it.live("as part of an agent's commit, in a worktree that is made of it, and not what the user's own tree has", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const bare = (name: string) =>
        `git init -q --bare ${name}; touch ${name}/objects/k ${name}/refs/k; rm -rf ${name}/hooks; git -C ${name} config core.pager ./run; git add -f ${name}; git commit -qm ${name}`
      const user = { cwd: here.workspace, env: environmentOf(here) }
      execFileSync("/bin/bash", ["-c", bare("mine")], user)
      const workspace = join(here.stateDirectory, "worktrees", "fork")
      yield* during(here, (sandbox) =>
        Effect.andThen(runIn(here, sandbox, bare("theirs")), sandbox.tidy(here.workspace))
      )
      execFileSync("git", ["worktree", "add", "-q", "-b", "fork", workspace], user)
      assert.isTrue(existsSync(join(workspace, "theirs", "HEAD")))
      yield* during(here, (sandbox) => sandbox.tidy(workspace))
      assert.isFalse(existsSync(join(workspace, "theirs", "HEAD")))
      assert.isTrue(existsSync(join(workspace, "mine", "HEAD")))
    })
  )

  it.live("and is no repository where it is moved", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) => runIn(here, sandbox, evil("made")))
      const refused = join(here.stateDirectory, "sandbox", "refused")
      const [moved = ""] = readdirSync(refused).filter((name) => name.endsWith("-.git"))
      assert.isTrue(existsSync(join(refused, moved, "config")))
      assert.isFalse(existsSync(join(refused, moved, "HEAD")))
    })
  )

  it.live("but not a worktree that was added since the first look", () =>
    Effect.gen(function* () {
      const here = yield* scene
      yield* during(here, (sandbox) => runIn(here, sandbox, "git worktree add -q -b made t"))
      assert.isTrue(isThere(here, "t"))
    })
  )
})
