/** What repositories in a workspace depend on, changed by another command of the same turn, under a name that is none of git's. */
import { execFileSync } from "node:child_process"
import { lstatSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, scene } from "../src/testing/index.ts"
import { during, environmentOf, run } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a"
const script = (path: string, text: string) => `mkdir -p $(dirname ${path}); echo '${text}' > ${path}; chmod +x ${path}`
/** A folder with all of a repository but `HEAD`, so that no look takes it for one. */
const parts = (folder: string) =>
  `mkdir -p ${folder}; git init -q made-up; mv made-up/.git/objects made-up/.git/refs made-up/.git/config ${folder}; rm -rf made-up`
const pointing = (name: string, to: string) =>
  `git init -q ${name}; rm -rf ${name}/.git/objects ${name}/.git/refs ${name}/.git/config ${name}/.git/hooks; echo ${to} > ${name}/.git/commondir`
const monitored = (file: string) => `git config --file ${file} core.fsmonitor ./run`
const pointed = `git init -q --bare G; git -C G config core.bare false; mkdir s; echo 'gitdir: ../G' > s/.git`

/** What the user made before, the commands, and what must be gone after the last one. */
const sequences: ReadonlyArray<readonly [string, string, ReadonlyArray<string>, string]> = [
  [
    "a common directory that is put in the place of another one",
    "",
    [
      `${parts("p/c")}; ${parts("q/c")}; ${pointing("p/y", "../../c")}; ${monitored("q/c/config")}`,
      "mv p/c p/c0; mv q/c p/c"
    ],
    "p/y/.git"
  ],
  [
    "a common directory of the user's, put in the place of another one",
    `${parts("p/c")}; ${pointing("p/y", "../../c")}`,
    [`${parts("q/c")}; ${monitored("q/c/config")}`, "mv p/c p/c0; mv q/c p/c"],
    "p/y/.git"
  ],
  [
    "a worktree's directory that is put into another repository",
    "",
    [
      `${identity}; git init -q m; git -C m commit -q --allow-empty -m x; git -C m worktree add -q ../t`,
      `mkdir -p e/worktrees; cp -r m/.git/objects m/.git/refs e; ${monitored("e/config")}; rm t/.git; ln -s ../e/worktrees/t t/.git`,
      "mv m/.git/worktrees/t e/worktrees/t"
    ],
    "t/.git"
  ],
  [
    "the program that a repository of the user's names",
    `${script("helpers/query", "exit 1")}; git init -q mine; git -C mine config core.fsmonitor ../helpers/query`,
    ["echo evil > helpers/query"],
    "mine/.git"
  ],
  [
    "a folder with such a program, put in the place of another one",
    `${script("helpers/query", "exit 1")}; git init -q mine; git -C mine config core.fsmonitor ../helpers/query`,
    [script("prepared/query", "evil"), "mv helpers before; mv prepared helpers"],
    "mine/.git"
  ],
  [
    "a program that is named and missing",
    "git init -q mine; git -C mine config core.fsmonitor ../helpers/query",
    [script("helpers/query", "evil")],
    "mine/.git"
  ],
  [
    "the file that a configuration of the user's includes",
    "git init -q mine; git -C mine config include.path ../../shared/settings; mkdir shared; touch shared/settings",
    [monitored("shared/settings")],
    "mine/.git"
  ],
  [
    "the program of a file that a configuration of the user's includes",
    `git init -q mine; git -C mine config include.path ../../shared/settings; mkdir shared; ${script("helpers/query", "exit 1")}; git config --file shared/settings core.fsmonitor ../helpers/query`,
    ["echo evil > helpers/query"],
    "mine/.git"
  ],
  [
    "the folder that hooks of the user's are a link to",
    `git init -q mine; rm -rf mine/.git/hooks; ln -s ../../shared mine/.git/hooks; ${script("shared/pre-commit", "exit 1")}`,
    ["echo evil > shared/pre-commit"],
    "mine/.git"
  ],
  [
    "a folder in which the user's configuration has every repository look for hooks",
    "git config --global core.hooksPath .own-hooks",
    ["git init -q made", script("made/.own-hooks/post-checkout", "evil")],
    "made/.git"
  ],
  [
    "what the workspace's configuration names, in a worktree that a command added",
    "",
    ["git worktree add -q -b made t", script("t/.husky/_/post-checkout", "evil")],
    "t/.husky/_/post-checkout"
  ],
  [
    "the folders that its hooks waited for",
    "",
    [
      `mkdir G objects refs; echo 'ref: refs/heads/x' > G/HEAD; ${script("G/hooks/reference-transaction", "evil")}`,
      "mv objects refs G"
    ],
    "G/HEAD"
  ],
  [
    "the folder to which a pointer leads, for one whose name was no text",
    "",
    [
      `${pointed}; N=$(printf 'n\\377'); mkdir "$N"; cp -r G "$N"; ${monitored('"$N/G/config"')}; mv "$N/G/objects" "$N/G/o"`,
      `N=$(printf 'n\\377'); mv G old; mv "$N/G" G; mv G/o G/objects`
    ],
    "s/.git"
  ],
  [
    "what its tree is called",
    "",
    ['git init -q n; git -C n config core.worktree "$PWD/n"', "mv n moved; ln -s /tmp n"],
    "moved/.git"
  ],
  [
    "what was missing where its tree is",
    "",
    ["git init -q --bare G; git -C G config core.bare false; git -C G config core.worktree ../n", "ln -s /tmp n"],
    "G/HEAD"
  ],
  [
    "the file that a configuration of the user's is a link to",
    "git init -q mine; mv mine/.git/config shared.cfg; ln -s ../../shared.cfg mine/.git/config",
    [monitored("shared.cfg")],
    "mine/.git"
  ],
  [
    "a configuration of the user's that is too large",
    "git init -q mine; { echo '[x]'; yes '; filler filler filler filler' | head -n 40000; } >> mine/.git/config",
    ["printf '[core]\\nfsmonitor = ./run\\n' >> mine/.git/config"],
    "mine/.git"
  ],
  [
    "one of more hooks of the user's than anybody has",
    "git init -q mine; for n in $(seq 1100); do touch mine/.git/hooks/h$n; done",
    [script("mine/.git/hooks/pre-commit", "evil")],
    "mine/.git"
  ],
  [
    "where the user's repository is pushed to, into git's folder",
    "git init -q mine; git -C mine remote add origin ../mine.git",
    ["git init -q --bare .git/own/mine.git; git -C mine remote set-url --push origin ../.git/own/mine.git"],
    "mine/.git"
  ],
  [
    "skills that a link of the user's leads to",
    "mkdir -p shared/skills/x mine; echo x > shared/skills/x/SKILL.md; ln -s ../shared mine/.claude",
    ["echo 'hooks: {}' > shared/skills/x/SKILL.md"],
    "mine/.claude"
  ]
]

describe.skipIf(!sandboxed)("a repository in a workspace is moved as soon as a command has changed", () => {
  it.live.each(sequences)("%s", ([, before, commands, gone]) =>
    Effect.gen(function* () {
      const here = yield* scene
      execFileSync("/bin/bash", ["-c", before], { cwd: here.workspace, env: environmentOf(here) })
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          yield* sandbox.occupy({ directory: here.workspace, role: "author", permissions: "ask" })
          const shell = yield* sandbox.shellFor(here.workspace, "author")
          const said = yield* Effect.forEach(commands, (command) => run(here, shell, command))
          assert.isUndefined(lstatSync(join(here.workspace, gone), { throwIfNoEntry: false }), said.join("\n"))
          assert.include(said.join("\n"), "was moved to .reprise/sandbox/refused")
        })
      )
    })
  )
})
