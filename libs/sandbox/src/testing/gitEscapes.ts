/** For tests: tries to have git run something outside of the sandbox. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { canary, type Scene } from "./scene.ts"
import { type Escape, has, read, written } from "./tries.ts"

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
  ["a hook that husky's hooks call", ".husky/pre-commit"]
]

const ofScene = (title: string, path: string): Escape =>
  written(
    title,
    () => `mkdir -p "$(dirname '${path}')"; echo '# ${canary}' >> '${path}'`,
    ({ workspace }) => join(workspace, path)
  )

/** The last one: what a command does there to a clone leaves none that git takes for a repository. */
export const gitDirectoryEscape: Escape = {
  title: "anything in git's own folder",
  alone: true,
  command: () =>
    `find .git -type d | while read d; do echo ${canary} > "$d/made"; done; find .git -type f ! -name made | while read f; do chmod u+w "$f"; echo '# ${canary}' >> "$f"; done`,
  escaped: ({ workspace }) =>
    readdirSync(join(workspace, ".git"), { recursive: true, withFileTypes: true })
      // The scene itself keeps a password there.
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(join(workspace, ".git/annex/creds")))
      .some(({ name, parentPath }) => has(join(parentPath, name)))
}

export const gitEscapes: ReadonlyArray<Escape> = [
  ...named.map(([title, path]) => ofScene(title, path)),
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
    "a hook",
    () => `printf '#!/bin/sh\\n# ${canary}\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit`,
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
  written(
    "the user's own configuration of git",
    () => `git config --global core.pager ${canary}`,
    ({ home }) => `${home}/.gitconfig`
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
  )
]
