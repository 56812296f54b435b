/** For tests: tries to have git run something outside of the sandbox. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { canary, type Scene } from "./testingScene.ts"
import { type Escape, written } from "./testingTries.ts"

const configured = (title: string, command: string): Escape =>
  written(
    title,
    () => command,
    ({ workspace }) => join(workspace, ".git", "config")
  )

const hook = ({ workspace }: Scene) => join(workspace, ".git", "hooks", "post-commit")

/** By these a change stays out of what git shows. */
const hiding = [
  ["patterns of files that git leaves out", "info/exclude"],
  ["attributes of files that git shows no content of", "info/attributes"],
  ["other parents of a commit", "info/grafts"],
  ["files that git takes for not checked out", "info/sparse-checkout"],
  ["objects from elsewhere", "objects/info/alternates"]
] as const

export const gitEscapes: ReadonlyArray<Escape> = [
  ...hiding.map(([title, name]) =>
    written(
      title,
      () => `mkdir -p .git/info; echo '${canary}' >> .git/${name}`,
      ({ workspace }) => join(workspace, ".git", name)
    )
  ),
  written(
    "patterns of files that git leaves out, in a folder that is made anew",
    () => `mv .git/info out-info; mkdir -p .git/info; echo ${canary} > .git/info/exclude`,
    ({ workspace }) => join(workspace, ".git", "info", "exclude")
  ),
  written(
    "patterns of files that a submodule leaves out",
    () => `mkdir -p .git/modules/sub/info; echo ${canary} >> .git/modules/sub/info/exclude`,
    ({ workspace }) => join(workspace, ".git", "modules", "sub", "info", "exclude")
  ),
  written(
    "a hook",
    () => `printf '#!/bin/sh\\n# ${canary}\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit`,
    hook
  ),
  written(
    "a hook in a folder in place of the hooks",
    () => `mv .git/hooks .git/h; mkdir .git/hooks; echo ${canary} > .git/hooks/post-commit`,
    hook
  ),
  written(
    "a hook after the hooks were removed",
    () => `rm -rf .git/hooks; mkdir -p .git/hooks; echo ${canary} > .git/hooks/post-commit`,
    hook
  ),
  written(
    "a hook in another .git",
    () => `mv .git out-git && cp -r out-git .git && echo ${canary} > .git/hooks/post-commit`,
    hook
  ),
  written(
    "a hook in the folder that the configuration names",
    () => `mkdir -p tools/hooks; echo ${canary} > tools/hooks/post-commit`,
    ({ workspace }) => join(workspace, "tools", "hooks", "post-commit")
  ),
  written(
    "a hook in that folder, made anew",
    () => `mv tools out-tools; mkdir -p tools/hooks; echo ${canary} > tools/hooks/post-commit`,
    ({ workspace }) => join(workspace, "tools", "hooks", "post-commit")
  ),
  written(
    "a hook of a submodule",
    () => `echo ${canary} > .git/modules/sub/hooks/post-commit`,
    ({ workspace }) => join(workspace, ".git", "modules", "sub", "hooks", "post-commit")
  ),
  written(
    "a hook of a submodule whose folder is made anew",
    () =>
      `mv .git/modules out-modules; cp -r out-modules .git/modules; echo ${canary} > .git/modules/sub/hooks/post-commit`,
    ({ workspace }) => join(workspace, ".git", "modules", "sub", "hooks", "post-commit")
  ),
  written(
    "another common directory of a submodule",
    () => `echo '${canary}' > .git/modules/sub/commondir`,
    ({ workspace }) => join(workspace, ".git", "modules", "sub", "commondir")
  ),
  written(
    "another common directory of another worktree",
    () => `echo '${canary}' > .git/worktrees/second/commondir`,
    ({ workspace }) => join(workspace, ".git", "worktrees", "second", "commondir")
  ),
  written(
    "the same in a folder that is made anew",
    () =>
      `mv .git/worktrees out-worktrees; cp -r out-worktrees .git/worktrees; echo '${canary}' > .git/worktrees/second/commondir`,
    ({ workspace }) => join(workspace, ".git", "worktrees", "second", "commondir")
  ),
  written(
    "configuration of another worktree",
    () => `echo '${canary}' > .git/worktrees/second/config.worktree`,
    ({ workspace }) => join(workspace, ".git", "worktrees", "second", "config.worktree")
  ),
  written(
    "configuration of another repository, which a variable names",
    ({ home }) => `GIT_DIR=${home}/other/.git git config core.fsmonitor ${canary}`,
    ({ home }) => join(home, "other", ".git", "config")
  ),
  {
    title: "a repository of its own in the workspace's place",
    command: () => `mkdir -p objects refs; echo 'ref: refs/heads/main' > HEAD; echo '# ${canary}' > config`,
    escaped: ({ workspace }) => existsSync(join(workspace, "HEAD"))
  },
  configured("core.fsmonitor", `git config core.fsmonitor ${canary}`),
  configured("core.sshCommand", `git config core.sshCommand ${canary}`),
  configured("core.hooksPath", `git config core.hooksPath ${canary}`),
  configured("an alias", `git config alias.st '!echo ${canary}'`),
  configured("an include", `git config include.path ${canary}`),
  configured("a filter", `git config filter.x.clean ${canary}`),
  configured("configuration by hand", `printf '[core]\\n\\tpager = ${canary}\\n' >> .git/config`),
  written(
    "the user's own configuration of git",
    () => `git config --global core.pager ${canary}`,
    ({ home }) => `${home}/.gitconfig`
  ),
  written(
    "configuration of a worktree",
    () => `git config --worktree core.fsmonitor ${canary}`,
    ({ workspace }) => join(workspace, ".git", "config.worktree")
  ),
  written(
    "a file that the configuration includes",
    () => `git config --file shared.gitconfig core.fsmonitor ${canary}`,
    ({ workspace }) => join(workspace, "shared.gitconfig")
  ),
  written(
    "a file that the configuration would include",
    () => `git config --file absent.gitconfig core.fsmonitor ${canary}`,
    ({ workspace }) => join(workspace, "absent.gitconfig")
  ),
  written(
    "a file that the configuration includes, in a folder that is made anew",
    () => `mv conf out-conf; mkdir -p conf; echo '# ${canary}' > conf/deep.gitconfig`,
    ({ workspace }) => join(workspace, "conf", "deep.gitconfig")
  ),
  written(
    "another common directory",
    () =>
      `mkdir -p out-common; echo ${canary} > out-common/config; echo '../out-common' > .git/commondir; cp out-common/config .git/commondir`,
    ({ workspace }) => `${workspace}/.git/commondir`
  )
]
