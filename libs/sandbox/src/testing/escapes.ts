/** For tests: what a command might try to get out of the sandbox. */
import { existsSync } from "node:fs"
import { commandFileEscapes } from "./commandFileEscapes.ts"
import { gitDirectoryEscape, gitEscapes } from "./gitEscapes.ts"
import { nestedRepositoryEscapes } from "./nestedRepositoryEscapes.ts"
import { canary } from "./scene.ts"
import { takeover } from "./takeover.ts"
import { type Escape, has, kills, read, survives, written } from "./tries.ts"

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
    "a file in the machine's shared memory",
    ({ port }) => `echo ${canary} > /dev/shm/escaped-${port}`,
    ({ port }) => `/dev/shm/escaped-${port}`
  ),
  written(
    "a file of the user under a second name",
    ({ home }) => `ln -f ${home}/.profile out-hard && echo ${canary} >> out-hard`,
    ({ home }) => `${home}/.profile`
  ),
  written(
    "a package in the user's own cache",
    ({ home }) => `mkdir -p ${home}/.npm/_cacache; echo ${canary} > ${home}/.npm/_cacache/package`,
    ({ home }) => `${home}/.npm/_cacache/package`
  ),
  {
    title: "the program that the user's npm runs scripts with",
    command: ({ home }) => `echo script-shell=evil >> ${home}/.npmrc`,
    escaped: ({ home }) => has(`${home}/.npmrc`, "script-shell")
  },
  written(
    "a crontab",
    ({ port }) => `mkdir -p /var/spool/cron/crontabs; echo ${canary} > /var/spool/cron/crontabs/escaped-${port}`,
    ({ port }) => `/var/spool/cron/crontabs/escaped-${port}`
  ),
  {
    // What is written is what stands there.
    title: "a program that the machine's kernel runs, in its settings",
    command: () => "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo the kernel obeys",
    escaped: (_, output) => /^the kernel obeys$/m.test(output)
  },
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
    "settings in the place of a link",
    () => `rm -f .mcp.json; echo '{"mcpServers":{"${canary}":{}}}' > .mcp.json`,
    ({ workspace }) => `${workspace}/.mcp.json`
  ),
  written(
    "what a link of settings leads to",
    () => `mkdir -p settings; echo '{"mcpServers":{"${canary}":{}}}' > settings/mcp.json`,
    ({ workspace }) => `${workspace}/settings/mcp.json`
  ),
  ...commandFileEscapes,
  ...gitEscapes,
  ...nestedRepositoryEscapes,
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
  read(
    "a password that git keeps",
    () =>
      `printf 'protocol=https\\nhost=example.org\\n\\n' | GIT_TERMINAL_PROMPT=0 git -c credential.helper=store credential fill`
  ),
  {
    title: "the machine's passwords",
    command: () => "cat /etc/shadow /etc/gshadow",
    escaped: (_, output) => /^root:/m.test(output)
  },
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
    ({ socket }) =>
      `socat -T 3 - 'UNIX-CONNECT:${socket}' </dev/null; curl -sS -m 5 --unix-socket '${socket}' http://x/`
  ),
  read(
    "the agent's server, to approve its own permission",
    ({ port }) =>
      `for at in ${port} $(sed -n 's/^ *[0-9]*: [0-9A-F]*:\\([0-9A-F]*\\) 00000000:0000 0A .*/\\1/p' /proc/net/tcp); do case $at in ????) at=$((16#$at)) ;; esac; curl -sS -m 5 --noproxy '*' -u "opencode:$OPENCODE_SERVER_PASSWORD" -H 'content-type: application/json' -d '{"reply":"always"}' http://127.0.0.1:$at/permission/per_1/reply; done`
  ),
  read(
    "a socket in the machine's temporary folder, as of an agent that signs",
    ({ agentSocket }) => `SSH_AUTH_SOCK=${agentSocket}; socat -T 3 - UNIX-CONNECT:$SSH_AUTH_SOCK </dev/null`
  ),
  {
    title: "a service of the machine that runs programs later",
    command: ({ port }) =>
      `systemd-run --user touch /tmp/escaped-${port} && echo planned; echo 'touch /tmp/escaped-${port}' | at now && echo planned`,
    escaped: ({ port }, output) => /^planned$/m.test(output) || existsSync(`/tmp/escaped-${port}`)
  },
  read("a socket without a file", ({ abstractSocket }) => `socat -T 3 - ABSTRACT-CONNECT:${abstractSocket} </dev/null`),
  {
    title: "a name, resolved",
    command: () => "getent hosts registry.npmjs.org example.org && echo resolved",
    escaped: (_, output) => /^resolved$/m.test(output)
  },
  // Touching processes.
  kills("a process of the machine, by its number", ({ victim }) => `kill -9 ${victim}; kill -9 -${victim}`),
  { ...kills("every process", () => "(kill -9 -1) 2>/dev/null"), alone: true },
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
  ),
  {
    ...survives(
      "a process whose first process was taken over",
      4,
      (time) => `setsid sleep ${time} >/dev/null 2>&1 </dev/null & sleep 0.1; ${takeover}`
    ),
    alone: true
  },
  gitDirectoryEscape
]
