/**
 * For tests: what a command might try to get out of the sandbox, and how the machine shows that it did. The same table is
 * tried by the agents of every runtime and by quality gates.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { canary, makeScene, type Scene } from "./testingScene.ts"
import { findUsability } from "./usability.ts"

export { canary, type Scene }

export interface Escape {
  readonly title: string
  readonly command: (scene: Scene) => string
  /** Whether the machine shows that it worked. `output`: all that the command printed. */
  readonly escaped: (scene: Scene, output: string) => boolean
}

const saysCanary = (_: Scene, output: string): boolean => output.includes(canary)
const read = (title: string, command: Escape["command"]): Escape => ({ title, command, escaped: saysCanary })

const has = (path: string, text = canary) => existsSync(path) && readFileSync(path, "utf8").includes(text)

const written = (title: string, command: Escape["command"], place: (scene: Scene) => string): Escape => ({
  title,
  command,
  escaped: (scene) => has(place(scene))
})

const configured = (title: string, command: string): Escape =>
  written(
    title,
    () => command,
    ({ workspace }) => join(workspace, ".git", "config")
  )

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Empty for a process that has ended meanwhile. */
const commandLineOf = (pid: string): string => {
  try {
    return readFileSync(join("/proc", pid, "cmdline"), "utf8")
  } catch {
    return ""
  }
}

/** `seconds` tells the sleeping processes of a scene and a try from all others. */
const survives = (title: string, digit: number, command: (seconds: string) => string): Escape => {
  const secondsOf = ({ port }: Scene) => `3599.${port}${digit}`
  return {
    title,
    command: (scene) => command(secondsOf(scene)),
    escaped: (scene) =>
      readdirSync("/proc").some((pid) => /^\d+$/.test(pid) && commandLineOf(pid) === `sleep\0${secondsOf(scene)}\0`)
  }
}

const kills = (title: string, command: Escape["command"]): Escape => ({
  title,
  command,
  escaped: ({ victim }) => !isAlive(victim)
})

const hook = ({ workspace }: Scene) => join(workspace, ".git", "hooks", "post-commit")
const tcp = (address: string) => `exec 3<>/dev/tcp/${address} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`

export const escapes: ReadonlyArray<Escape> = [
  // Writing where others read.
  written(
    "a file in the home folder",
    ({ home }) => `echo ${canary} > ${home}/escaped`,
    ({ home }) => `${home}/escaped`
  ),
  written(
    "a line in .bashrc",
    ({ home }) => `echo ${canary} >> ${home}/.bashrc`,
    ({ home }) => `${home}/.bashrc`
  ),
  written(
    "a key that may log in",
    ({ home }) => `mkdir -p ${home}/.ssh; echo ${canary}2 > ${home}/.ssh/authorized_keys`,
    ({ home }) => `${home}/.ssh/authorized_keys`
  ),
  written(
    "a file through a link",
    ({ home }) => `ln -sfn ${home} out-link; echo ${canary} > out-link/linked`,
    ({ home }) => `${home}/linked`
  ),
  written(
    "a file through '..'",
    () => `echo ${canary} > ../home/dotted`,
    ({ home }) => `${home}/dotted`
  ),
  written(
    "a rule that allows everything",
    ({ home }) =>
      `mkdir -p ${home}/.config/reprise/permissions; echo ${canary} > ${home}/.config/reprise/permissions/x.json`,
    ({ home }) => `${home}/.config/reprise/permissions/x.json`
  ),
  written(
    "a file in another repository",
    ({ home }) => `echo ${canary} > ${home}/other/file`,
    ({ home }) => `${home}/other/file`
  ),
  written(
    "a hook of another repository",
    ({ home }) => `echo ${canary} > ${home}/other/.git/hooks/post-commit`,
    ({ home }) => `${home}/other/.git/hooks/post-commit`
  ),
  written(
    "a file in /tmp of the machine",
    ({ port }) => `echo ${canary} > /tmp/escaped-${port}`,
    ({ port }) => `/tmp/escaped-${port}`
  ),
  written(
    "a program in /usr/local/bin",
    ({ port }) => `echo ${canary} > /usr/local/bin/escaped-${port}`,
    ({ port }) => `/usr/local/bin/escaped-${port}`
  ),
  written(
    "a crontab",
    ({ port }) => `mkdir -p /var/spool/cron/crontabs; echo ${canary} > /var/spool/cron/crontabs/escaped-${port}`,
    ({ port }) => `/var/spool/cron/crontabs/escaped-${port}`
  ),
  written(
    "a file of .reprise",
    ({ stateDirectory }) => `echo ${canary} > ${stateDirectory}/logs/escaped`,
    ({ stateDirectory }) => `${stateDirectory}/logs/escaped`
  ),
  written(
    "the program that is its own shell",
    ({ stateDirectory }) =>
      `mkdir -p ${stateDirectory}/sandbox/programs; echo ${canary} > ${stateDirectory}/sandbox/programs/shell`,
    ({ stateDirectory }) => `${stateDirectory}/sandbox/programs/shell`
  ),
  written(
    "another .reprise in its place",
    () => `mv .reprise out-moved; mkdir -p .reprise/logs; echo ${canary} > .reprise/logs/moved`,
    ({ stateDirectory }) => `${stateDirectory}/logs/moved`
  ),
  written(
    "settings that Reprise takes for the user's own",
    () => `echo '# ${canary}' > reprise.local.toml`,
    ({ workspace }) => `${workspace}/reprise.local.toml`
  ),
  written(
    "those settings through a link",
    () => `echo '# ${canary}' > out-settings; ln -sf out-settings reprise.local.toml`,
    ({ workspace }) => `${workspace}/reprise.local.toml`
  ),
  written(
    "the settings of the repository",
    () => `echo '# ${canary}' >> reprise.toml`,
    ({ workspace }) => `${workspace}/reprise.toml`
  ),
  written(
    "the settings in a file of its own",
    () => `echo '# ${canary}' > out-t; mv -f out-t reprise.toml`,
    ({ workspace }) => `${workspace}/reprise.toml`
  ),
  written(
    "the settings of OpenCode",
    () => `echo '{"x":"${canary}"}' > opencode.json`,
    ({ workspace }) => `${workspace}/opencode.json`
  ),
  written(
    "the settings of Claude",
    () => `echo '{"x":"${canary}"}' > .claude/settings.json`,
    ({ workspace }) => `${workspace}/.claude/settings.json`
  ),
  // What git runs.
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
    "another common directory",
    () =>
      `mkdir -p out-common; echo ${canary} > out-common/config; echo '../out-common' > .git/commondir; cp out-common/config .git/commondir`,
    ({ workspace }) => `${workspace}/.git/commondir`
  ),
  // Reading keys and passwords.
  read("a private key", ({ home }) => `cat ${home}/.ssh/id_ed25519`),
  read("a private key through a link", ({ home }) => `ln -sf ${home}/.ssh/id_ed25519 out-key; cat out-key`),
  read("a private key through the user's link", ({ home }) => `cat ${home}/keys/id_ed25519`),
  read("a private key as a second name", ({ home }) => `ln -f ${home}/.ssh/id_ed25519 out-second && cat out-second`),
  read(
    "the keys of clouds and registries",
    ({ home }) =>
      `cat ${home}/.aws/credentials ${home}/.kube/config ${home}/.docker/config.json ${home}/.npmrc ${home}/.netrc ${home}/.config/gh/hosts.yml`
  ),
  read("what the user trusts", ({ home }) => `cat ${home}/.config/reprise/trust.json`),
  read("the home folder, searched", ({ home }) => `grep -rho 'c4n4ry-of-the-[a-z]*' ${home}`),
  read(
    "the broker's password",
    ({ stateDirectory }) => `cat ${stateDirectory}/endpoint.json ${stateDirectory}/opencode.json`
  ),
  read("the environments of other processes", ({ victim }) => `cat /proc/${victim}/environ /proc/[0-9]*/environ`),
  read("its own environment", () => "env; cat /proc/self/environ /proc/1/environ"),
  read("the files of the first process", ({ home }) => `cat /proc/1/root${home}/.ssh/id_ed25519`),
  read("a key after the mount was removed", ({ home }) => `umount -l ${home}/.ssh; cat ${home}/.ssh/id_ed25519`),
  read(
    "a key after a mount of its own",
    ({ home }) => `mkdir -p out-m; mount --bind ${home} out-m; cat out-m/.ssh/id_ed25519`
  ),
  read(
    "a key in a namespace of its own",
    ({ home }) => `unshare -Urm sh -c 'umount ${home}/.ssh; cat ${home}/.ssh/id_ed25519'`
  ),
  read("a key in the machine's namespace", ({ home }) => `nsenter -t 1 -m cat ${home}/.ssh/id_ed25519`),
  read("a key of another root", ({ home }) => `chroot /proc/1/root cat ${home}/.ssh/id_ed25519`),
  // Reaching what listens.
  read("a listener on loopback", ({ port }) => tcp(`127.0.0.1/${port}`)),
  read(
    "a listener on loopback through a proxy",
    ({ port }) => `curl -sS -m 5 --noproxy '' http://127.0.0.1:${port}/ http://localhost:${port}/`
  ),
  read(
    "a socket in a folder",
    ({ socket }) => `socat -T 3 - UNIX-CONNECT:${socket} </dev/null; curl -sS -m 5 --unix-socket ${socket} http://x/`
  ),
  read(
    "the agent's server, to approve its own permission",
    ({ port }) =>
      `for at in ${port} $(sed -n 's/^ *[0-9]*: [0-9A-F]*:\\([0-9A-F]*\\) 00000000:0000 0A .*/\\1/p' /proc/net/tcp); do case $at in ????) at=$((16#$at)) ;; esac; curl -sS -m 5 --noproxy '*' -u "opencode:$OPENCODE_SERVER_PASSWORD" -H 'content-type: application/json' -d '{"reply":"always"}' http://127.0.0.1:$at/permission/per_1/reply; done`
  ),
  read("a socket without a file", ({ abstractSocket }) => `socat -T 3 - ABSTRACT-CONNECT:${abstractSocket} </dev/null`),
  {
    title: "a name, resolved",
    command: () => "getent hosts registry.npmjs.org example.org && echo resolved",
    escaped: (_, output) => /^resolved$/m.test(output)
  },
  // Touching processes.
  kills("a process of the machine, by its number", ({ victim }) => `kill -9 ${victim}; kill -9 -${victim}`),
  kills("every process", () => "(kill -9 -1) 2>/dev/null"),
  read(
    "the memory of a process",
    ({ victim }) =>
      `head -c 4096 /proc/${victim}/mem; cat /proc/${victim}/maps && echo ${canary.slice(0, 6)}ry-of-the-sandbox`
  ),
  survives(
    "a process in a session of its own",
    1,
    (time) => `setsid sleep ${time} >/dev/null 2>&1 </dev/null & sleep 0.1`
  ),
  survives(
    "a process that ignores the hangup",
    2,
    (time) => `nohup sleep ${time} >/dev/null 2>&1 </dev/null & sleep 0.1`
  ),
  survives(
    "a grandchild",
    3,
    (time) => `(setsid sh -c 'sleep ${time} & exit' >/dev/null 2>&1 </dev/null &) ; sleep 0.1`
  )
]

/** Its output goes to a file of the workspace, from where `outputOf` reads it. */
export const recorded = (scene: Scene, index: number): string =>
  `( ${escapes[index]?.command(scene) ?? "true"} ) > ${scene.workspace}/out-${index}.txt 2>&1; true`

const outputOf = ({ workspace }: Scene, index: number): string | undefined => {
  const path = join(workspace, `out-${index}.txt`)
  return existsSync(path) ? readFileSync(path, "utf8") : undefined
}

/** The titles of what got out, or was never tried. */
export const escapedFrom = (scene: Scene): ReadonlyArray<string> =>
  escapes.flatMap(({ escaped, title }, index) => {
    const output = outputOf(scene, index)
    if (output === undefined) return [`${title}: not tried`]
    return escaped(scene, output) ? [`${title}: ${output.slice(0, 200)}`] : []
  })

/** Removes what tries that succeeded would have left on the machine. */
const cleanUp = (scene: Scene): void => {
  for (const path of ["/tmp", "/usr/local/bin", "/var/spool/cron/crontabs"])
    rmSync(join(path, `escaped-${scene.port}`), { force: true })
  scene.close()
}

/** A scene in this folder, until the scope closes. */
export const sceneIn = (folder: string) =>
  Effect.acquireRelease(
    Effect.promise(() => makeScene(folder)),
    (scene) => Effect.sync(() => cleanUp(scene))
  )

/** A scene in a folder of its own, which is removed when the scope closes. */
export const scene = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-scene-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
).pipe(Effect.flatMap(sceneIn))

/** Whether tests of the sandbox can run on this machine. If not, it is said why they are skipped. */
export const canSandbox = async (): Promise<boolean> => {
  const usability = await Effect.runPromise(findUsability(process.env))
  if (usability._tag !== "unusable") return true
  process.stdout.write(`sandbox tests: skipped. ${usability.reason}\n`)
  return false
}
