/** For tests: repositories inside of the workspace that would have git run something outside of the sandbox. */
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { canary, type Scene } from "./scene.ts"
import { type Escape, has } from "./tries.ts"

/** What git would run: it leaves a file in the home folder. */
const program = (witness: string) => `echo ${canary} > ${witness}; false`

/** In the sandbox the program runs in vain: the home folder cannot be written. */
const nested = (name: string, title: string, command: (evil: string, scene: Scene) => string): Escape => {
  const witness = ({ home }: Scene) => join(home, `ran-${name}`)
  const begin = `mkdir -p nested/${name} && cd nested/${name}`
  return {
    title,
    command: (scene) =>
      `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; ${begin} && ${command(program(witness(scene)), scene)}`,
    escaped: (scene) => has(witness(scene)),
    folder: `nested/${name}`
  }
}

/** A repository with a commit, then the command, then it is a submodule of the workspace's index. */
const added = (command: string) =>
  `git init -q . && git commit -q --allow-empty -m x && ${command}; git -C ../.. add -f nested/"\${PWD##*/}"`

const set = (key: string, evil: string) => `git config ${key} '${evil}'`

export const nestedRepositoryEscapes: ReadonlyArray<Escape> = [
  nested("monitor", "a monitor in a repository inside of the workspace", (evil) => added(set("core.fsmonitor", evil))),
  nested("removed", "the same, removed again in the same turn", (evil) =>
    added(`${set("core.fsmonitor", evil)}; (sleep 1; rm -rf "$PWD/.git") & true`)
  ),
  nested("filter", "a filter in a repository inside of the workspace", (evil) =>
    added(
      `echo '* filter=x' > .gitattributes; echo a > f; git add .; git commit -qm f; ${set("filter.x.clean", evil)}; echo b > f`
    )
  ),
  nested("process", "a filter that goes on, likewise", (evil) =>
    added(
      `echo '* filter=x' > .gitattributes; echo a > f; git add .; git commit -qm f; ${set("filter.x.process", evil)}; echo b > f`
    )
  ),
  nested("attributes", "a filter by attributes that no commit has", (evil) =>
    added(
      `echo a > f; git add .; git commit -qm f; echo '* filter=x' > .git/info/attributes; ${set("filter.x.clean", evil)}; echo b > f`
    )
  ),
  nested("external", "a program for differences", (evil) =>
    added(`echo a > f; git add .; git commit -qm f; ${set("diff.external", evil)}; echo b > f`)
  ),
  nested("textconv", "a program that shows files as text", (evil) =>
    added(
      `echo '* diff=x' > .gitattributes; echo a > f; git add .; git commit -qm f; ${set("diff.x.textconv", evil)}; echo b > f`
    )
  ),
  nested("hook", "a hook that runs when git has read the tree", (evil) =>
    added(
      `echo a > f; git add .; git commit -qm f; mkdir -p .git/hooks; printf '#!/bin/sh\\n%s\\n' '${evil}' > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change; touch f`
    )
  ),
  nested("hooks-path", "a folder of hooks elsewhere in the tree", (evil) =>
    added(
      `echo a > f; git add .; git commit -qm f; mkdir h; printf '#!/bin/sh\\n%s\\n' '${evil}' > h/post-index-change; chmod +x h/post-index-change; git config core.hooksPath "$PWD/h"; touch f`
    )
  ),
  nested("included", "a monitor in an included file", (evil) =>
    added(`git config --file inc core.fsmonitor '${evil}'; git config include.path ../inc`)
  ),
  nested("conditional", "a monitor that is included on a condition", (evil) =>
    added(`git config --file inc core.fsmonitor '${evil}'; git config "includeIf.gitdir:**.path" "$PWD/inc"`)
  ),
  nested("branch-include", "a monitor that is included on a branch", (evil) =>
    added(`git config --file inc core.fsmonitor '${evil}'; git config "includeIf.onbranch:**.path" "$PWD/inc"`)
  ),
  nested("worktree-configuration", "a monitor in the configuration of a worktree", (evil) =>
    added(`git config extensions.worktreeConfig true; git config --worktree core.fsmonitor '${evil}'`)
  ),
  nested("pointer", "a repository whose '.git' is a file", (evil) =>
    added(`${set("core.fsmonitor", evil)}; mv .git ../pointed.git; echo "gitdir: ../pointed.git" > .git`)
  ),
  nested("own-pointer", "a repository whose directory lies in that of the workspace", (evil) =>
    added(`${set("core.fsmonitor", evil)}; mv .git ../../.git/own-evil; echo "gitdir: ../../.git/own-evil" > .git`)
  ),
  nested("deep-module", "a repository whose directory lies deep among the submodules", (evil) =>
    added(
      `${set("core.fsmonitor", evil)}; mkdir -p ../../.git/modules/1/2/3/4/5/6/7/8; mv .git ../../.git/modules/1/2/3/4/5/6/7/8/m; echo "gitdir: ../../.git/modules/1/2/3/4/5/6/7/8/m" > .git`
    )
  ),
  nested("blank-pointer", "a repository whose '.git' is a file with a blank at its end", (evil) =>
    added(
      `mkdir -p "../blank.git "; mv .git/HEAD .git/index "../blank.git /"; mv .git ../blank-common; git config --file ../blank-common/config core.fsmonitor '${evil}'; echo "../blank-common" > "../blank.git /commondir"; echo "gitdir: ../blank.git " > .git`
    )
  ),
  nested(
    "bare-common",
    "a repository without a working tree, with another common directory",
    (evil) =>
      `git init -q --bare ../bare-common-c && git config --file ../bare-common-c/config core.bare false && git config --file ../bare-common-c/config core.fsmonitor '${evil}' && cp ../bare-common-c/HEAD . && echo ../bare-common-c > commondir && printf '[core]\n\tworktree = .\n' > config.worktree; git config --file ../bare-common-c/config extensions.worktreeConfig true`
  ),
  nested("link", "a repository whose '.git' is a link", (evil) =>
    added(`${set("core.fsmonitor", evil)}; mv .git ../linked.git; ln -s ../linked.git .git`)
  ),
  nested("renamed", "a repository that is made under another name first", (evil) =>
    added(`${set("core.fsmonitor", evil)}; mv .git ../prepared; sleep 0.1; mv ../prepared .git`)
  ),
  nested("common", "a repository with another common directory", (evil) =>
    added(
      `cp -r .git ../common.git; git config --file ../common.git/config core.fsmonitor '${evil}'; echo ../../common.git > .git/commondir`
    )
  ),
  nested(
    "second-worktree",
    "a worktree of a repository inside of the workspace",
    (evil) =>
      `git init -q main && cd main && git commit -q --allow-empty -m x && git worktree add -q ../tree && ${set("core.fsmonitor", evil)}; cd ..; git -C ../.. add -f nested/second-worktree/tree`
  ),
  nested("alternates", "a repository that borrows its objects", (evil) =>
    added(
      `${set("core.fsmonitor", evil)}; mkdir ../borrowed; mv .git/objects ../borrowed/; mkdir -p .git/objects/info; echo "$PWD/../borrowed/objects" > .git/objects/info/alternates`
    )
  ),
  nested(
    "bare",
    "a repository without a working tree",
    (evil) =>
      `git init -q --bare . && git config core.bare false && git config core.worktree . && ${set("core.fsmonitor", evil)}`
  ),
  nested(
    "deep",
    "a repository deep in a folder that is ignored",
    (evil) =>
      `mkdir -p out-deep/a/b/c && cd out-deep/a/b/c && git init -q . && git commit -q --allow-empty -m x && ${set("core.fsmonitor", evil)}`
  ),
  nested("promisor", "a repository that fetches missing objects by a program", (evil) =>
    added(
      `echo a > f; git add .; git commit -qm f; git config extensions.partialClone evil; git config remote.evil.promisor true; git config remote.evil.url "ext::sh -c '${evil}'"; git config protocol.ext.allow always; rm -rf .git/objects/??; echo b > f`
    )
  ),
  nested("submodule-update", "a submodule that is brought up to date by a program", (evil) =>
    added(`${set("submodule.x.update", `!${evil}`)}`)
  ),
  nested("signature", "a program that looks at signatures", (evil) =>
    added(`${set("gpg.program", evil)}; git config log.showSignature true`)
  ),
  nested("alias", "an alias for what a prompt calls", (evil) => added(`git config alias.st '!${evil}'`)),
  nested("pager", "a pager", (evil) => added(`${set("core.pager", evil)}; ${set("pager.status", evil)}`)),
  nested(
    "new-module",
    "a monitor in a submodule that was added in the same turn",
    (evil, { home }) =>
      `cd ../..; git -c protocol.file.allow=always submodule --quiet add --force ${home}/other nested/new-module/m; git -C nested/new-module/m config core.fsmonitor '${evil}'`
  ),
  nested(
    "files-for-folders",
    "a repository without a working tree whose objects are a file",
    (evil) =>
      `echo "ref: refs/heads/main" > HEAD; : > objects; : > refs; chmod +x objects refs; printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n' > config; git config --file config core.fsmonitor '${evil}'`
  ),
  nested(
    "new-worktree",
    "a monitor in a worktree that was added in the same turn",
    (evil) =>
      `cd ../..; git worktree add -q -b new-worktree nested/new-worktree/t; git -C nested/new-worktree/t config --worktree core.fsmonitor '${evil}'`
  )
]

/** Whoever looks at the tree outside after a try, as a prompt or an editor does: a git that Reprise does not start. */
export const lookOutside = ({ home, workspace }: Scene, { folder }: Escape): void => {
  const look = (directory: string, ...args: ReadonlyArray<string>) => {
    try {
      execFileSync("git", ["-C", directory, ...args], {
        stdio: "ignore",
        timeout: 20_000,
        env: { PATH: process.env["PATH"], HOME: home, GIT_TERMINAL_PROMPT: "0" }
      })
    } catch {
      // No repository, or a broken one.
    }
  }
  if (folder === undefined) return
  const top = join(workspace, folder)
  const below = existsSync(top)
    ? readdirSync(top, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isDirectory() && entry.name !== ".git" && !/\/\.git(\/|$)/.test(entry.parentPath))
        .map(({ name, parentPath }) => join(parentPath, name))
    : []
  for (const directory of [workspace, top, ...below]) {
    look(directory, "status")
    look(directory, "diff", "--submodule=diff")
    look(directory, "log", "-p", "-1")
  }
}
