/** For tests: tries to have git run something outside of the sandbox. */
import { existsSync, lstatSync } from "node:fs"
import { basename, join } from "node:path"
import { canary, type Scene } from "./testingScene.ts"
import { type Escape, read, written } from "./testingTries.ts"

const configured = (title: string, command: string): Escape =>
  written(
    title,
    () => command,
    ({ workspace }) => join(workspace, ".git", "config")
  )

const hook = ({ workspace }: Scene) => join(workspace, ".git", "hooks", "post-commit")

/** Files of the workspace that git's configuration names, in every way in which it can. */
const named: ReadonlyArray<readonly [title: string, path: string]> = [
  ["a file whose include has a comment", "commented.gitconfig"],
  ["a file whose include is quoted", "quo;ted.gitconfig"],
  ["a file whose include goes on in the next line", "continued.gitconfig"],
  ["a file that is included by the home folder", "tilde.gitconfig"],
  ["a file that is included by a user's home folder", "user.gitconfig"],
  ["a file that is included by git's own folder", "prefix.gitconfig"],
  ["a file that another branch includes", "branch.gitconfig"],
  ["a file that another directory includes", "gitdir.gitconfig"],
  ["a file that another directory includes, in small letters", "gitdir-i.gitconfig"],
  ["a file that another remote includes", "remote.gitconfig"],
  ["a file that an included file includes for another branch", "conf/chained.gitconfig"],
  ["a file that the user's configuration includes", "home.gitconfig"],
  ["a file that the user's other configuration includes", "xdg.gitconfig"],
  ["a hook in a folder whose name has a comment", ".githooks/post-commit"],
  ["a hook of a submodule's working tree", "sub/own-hooks/post-commit"],
  ["a hook for new repositories", "conf/template/hooks/post-commit"],
  ["attributes that the configuration names", "conf/attributes"],
  ["ignored files that the configuration names", "conf/ignored"],
  ["whose signatures count", "conf/signers"],
  ["whose certificates count", "conf/roots.pem"],
  ["the program that git reaches servers with", "tools/ssh.sh"],
  ["the program of a filter", "tools/clean.js"],
  ["the program of a filter, behind a shell", "tools/smudge"],
  ["the program of an alias", "tools/alias.sh"],
  ["the program that has the passwords", "tools/credential"],
  ["the file that a hook leads to", "tools/pre-push"],
  ["attributes of the repository", ".git/info/attributes"],
  ["ignored files of the repository", ".git/info/exclude"],
  ["another history", ".git/info/grafts"],
  ["where the history ends", ".git/shallow"],
  ["an object in the place of another", ".git/refs/replace/0123456789012345678901234567890123456789"],
  ["an object in the place of a submodule's", ".git/modules/sub/refs/replace/0123456789012345678901234567890123456789"],
  ["files that git takes for not checked out", ".git/info/sparse-checkout"],
  ["objects of another repository", ".git/objects/info/alternates"],
  ["a remote in a file of its own", ".git/remotes/origin"],
  ["files in which the next commit resolves conflicts", ".git/MERGE_RR"],
  ["how the next commit resolves them", ".git/rr-cache/0123456789012345678901234567890123456789/postimage"],
  ["the changes that the next commit unpacks", ".git/MERGE_AUTOSTASH"],
  ["the changes that the next commit in a submodule unpacks", ".git/modules/sub/MERGE_AUTOSTASH"],
  ["which working tree this is for Reprise", ".git/reprise-workspace.json"],
  ["which working tree another one is for Reprise", ".git/worktrees/second/reprise-workspace.json"],
  ["which clone Reprise has trusted", ".git/reprise.json"],
  ["commands of lazygit", ".git/lazygit.yml"],
  ["commands of lazygit in a submodule", ".git/modules/sub/lazygit.yml"],
  ["settings of Sapling", ".git/sl/config"],
  ["the server that glab sends its token to", ".git/glab-cli/config.yml"],
  ["that programs of the tree are those of the user", ".git/safe/made"],
  ["the key that git-crypt encrypts with", ".git/git-crypt/keys/default"],
  ["a hook that husky's hooks call", ".husky/pre-commit"]
]

/** Places in git's folders at which a git outside writes, or reads. */
const places = [
  ...["COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD", "description", "logs/refs/tags", "logs/refs/heads/escaped"],
  ...["logs/refs/heads/post-commit", "refs/heads/escaped", "objects/escaped", "rebase-merge", "sequencer/todo"],
  ...["worktrees/second/ORIG_HEAD", "modules/sub/COMMIT_EDITMSG", "lfs", "reftable"]
]

/** The folder above it may be a link to something else by now. */
const isThere = (path: string) => {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

const ofScene = (title: string, path: string): Escape =>
  written(
    title,
    () => `mkdir -p "$(dirname '${path}')"; echo '# ${canary}' >> '${path}'`,
    ({ workspace }) => join(workspace, path)
  )

export const gitEscapes: ReadonlyArray<Escape> = [
  ...named.map(([title, path]) => ofScene(title, path)),
  ...places.map(
    (path): Escape => ({
      title: `a link at ${path} in git's folder`,
      command: ({ home }) =>
        `mkdir -p "$(dirname .git/${path})"; rm -rf .git/${path}; ln -s ${home}/${basename(path)} .git/${path}`,
      escaped: ({ workspace }) => isThere(join(workspace, ".git", path))?.isSymbolicLink() === true
    })
  ),
  ...["FETCH_HEAD", "logs/refs/heads/waiting", "objects/pack/pack-waiting.idx"].map(
    (path): Escape => ({
      title: `a pipe at ${path} in git's folder`,
      command: () => `mkdir -p "$(dirname .git/${path})"; rm -rf .git/${path}; mkfifo .git/${path}`,
      escaped: ({ workspace }) => isThere(join(workspace, ".git", path))?.isFIFO() === true
    })
  ),
  read(
    "a password that git-annex keeps",
    () => "cat .git/annex/creds/remote; mv .git/annex out-annex; cat out-annex/creds/remote"
  ),
  written(
    "a file of the user under a second name in git's folder",
    ({ home }) => `ln -f ${home}/.bashrc .git/EDITED && echo ${canary} >> .git/EDITED`,
    ({ home }) => `${home}/.bashrc`
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
