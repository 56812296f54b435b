/** Nothing that a command does changes git's directory: one table of what git would believe there. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { canary, canSandbox, scene } from "../src/testing/index.ts"
import { during, git, run } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

/** Each file of git's directory with its content, but for those that are named by it. */
const contentOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isSymbolicLink())
      .map(({ name, parentPath }) => join(parentPath, name))
      .filter((path) => !/^(objects|lfs|annex\/(?!creds\/))/.test(relative(folder, path)))
      .map((path) => [relative(folder, path), readFileSync(path, "base64")])
  )

/** What a repository would say that a git outside obeys. */
const another = (at: string) =>
  `echo 'ref: refs/heads/other' >${at}/HEAD; printf '[core]\\nfsmonitor = touch PWNED\\n' >>${at}/config; echo 'touch PWNED' >${at}/hooks/post-commit`

/** Whatever git believes in its own directory (`$g`), and in those of submodules and other working trees, or in another one's place. */
const hostile: ReadonlyArray<readonly [title: string, command: string]> = [
  ["reads passwords", "cat $g/annex/creds/* $(git rev-parse --absolute-git-dir)/annex/creds/*"],
  ["adds to all files", 'find $g -type f | while read f; do chmod u+w "$f"; echo x >>"$f"; done'],
  ["makes files in all folders", 'find $g -type d | while read d; do touch "$d/made" "$d/made.lock"; done'],
  [
    "configures programs",
    "git config core.fsmonitor 'touch PWNED'; git config --worktree core.pager x; printf '[core]\\n\\thooksPath = /tmp\\n' >>$g/config; mkdir -p $g/hooks && printf '#!/bin/sh\\ntouch PWNED\\n' >$g/hooks/post-checkout && chmod +x $g/hooks/post-checkout"
  ],
  [
    "leads git elsewhere",
    "printf 'ref: commondir\\n' >$g/ORIG_HEAD; echo .. >$g/commondir; ln -sfn $HOME $g/worktrees/evil; rm -rf $g/modules && ln -sfn $HOME $g/modules; ln -sf /dev/zero $g/packed-refs; mkfifo $g/FETCH_HEAD"
  ],
  [
    "has the next commit resolve, unpack and hide",
    "mkdir -p $g/rr-cache $g/info; printf '0\\t../x\\0' >$g/MERGE_RR; git rev-parse HEAD | tee $g/MERGE_AUTOSTASH >$g/shallow; echo '*' >$g/info/exclude; printf x >$g/index; git replace -f HEAD HEAD~1"
  ],
  ["removes what is not its own", "rm -rf $g/worktrees $g/modules $g/refs; git worktree prune --expire now"],
  ["moves it", `mv $g x; git init -q; ${another(".git")}`],
  [
    "puts a pointer in its place",
    `mv .git x; git init -q other; ${another("other/.git")}; echo "gitdir: other/.git" >.git`
  ],
  ["puts a link in its place", `mv .git x; git init -q other2; ${another("other2/.git")}; ln -sfn other2/.git .git`],
  [
    "exchanges it",
    `git init -q other3; ${another("other3/.git")}; mv --exchange .git other3/.git; mv -T other3/.git .git`
  ],
  ["removes it", `rm -rf .git; git init -q; ${another(".git")}`]
]

describe.skipIf(!sandboxed)("git's directory", () => {
  it.live.each(["the user's own tree", "a worktree"])("stays as it is whatever commands do in %s", (where) =>
    Effect.gen(function* () {
      const here = yield* scene
      const tree = join(here.stateDirectory, "worktrees/r1")
      mkdirSync(join(tree, ".."), { recursive: true })
      git(here, "worktree", "add", "-q", "-b", "r1", tree)
      const workspace = where === "a worktree" ? tree : here.workspace
      const own = { ...here, workspace }
      const before = contentOf(join(here.workspace, ".git"))
      yield* during(here, (sandbox) =>
        Effect.gen(function* () {
          const shells = [
            sandbox.shellFor(workspace, "author"),
            sandbox.gateShell(workspace, RunId.make("r1")),
            sandbox.shellFor(workspace, "reviewer")
          ]
          for (const [title, command] of hostile) {
            for (const shell of shells) {
              const said = yield* run(own, yield* shell, `for g in .git ${here.workspace}/.git; do ${command}; done`)
              assert.notInclude(said, canary)
            }
            yield* sandbox.tidy(workspace)
            assert.deepStrictEqual(contentOf(join(here.workspace, ".git")), before, title)
          }
        })
      )
      // Inside, git obeyed it.
      rmSync(join(workspace, "PWNED"), { force: true })
      git(own, "status")
      assert.strictEqual(
        git(own, "rev-parse", "--path-format=absolute", "--git-common-dir"),
        join(here.workspace, ".git")
      )
      assert.isFalse(existsSync(join(workspace, "PWNED")))
    })
  )

  it.live("stays as it is also where sandbox.write names it, or what is around or in it", () =>
    Effect.gen(function* () {
      const here = yield* scene
      const before = contentOf(join(here.workspace, ".git"))
      const write = [join(here.workspace, ".."), join(here.workspace, ".git"), join(here.workspace, ".git/refs")]
      const attack = "for f in config refs/heads/made modules/sub/HEAD made; do echo x >>.git/$f; done; echo x >../made"
      yield* during(
        here,
        (sandbox) =>
          Effect.gen(function* () {
            for (const role of ["author", "reviewer"] as const)
              yield* run(here, yield* sandbox.shellFor(here.workspace, role), attack)
          }),
        {},
        { write }
      )
      assert.deepStrictEqual(contentOf(join(here.workspace, ".git")), before)
      assert.isTrue(existsSync(join(here.workspace, "../made")))
    })
  )
})
