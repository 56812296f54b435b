/**
 * Programs that stand in for a shell: `PROGRAM -c COMMAND` runs the command in the sandbox. They are scripts, because they
 * start for every command of an agent, and a start of Node takes longer than most commands. Pure.
 */
import { bubblewrapArguments, proxySocket } from "./bubblewrap.ts"
import { withheldVariables } from "./credentials.ts"
import type { Policy } from "./policy.ts"

export const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const shellHead = "#!/bin/sh\n# Written by Reprise for the commands of agents and quality gates. Do not edit.\n"

/** A program that is not given `-c` is given the command alone. */
export const alone = `case "$1" in -*) ;; *) set -- -c "$1" ;; esac`

/** By name, whoever set them; in the shell itself, since bubblewrap's own environment can be read inside. */
export const withholding = `set -f
IFS='
'
for line in $(export -p); do
  name=\${line#export }; name=\${name#declare -x }; name=\${name%%=*}
  case $name in
    ''|*[!A-Za-z0-9_]*) ;;
    ${withheldVariables.join("|")}) unset "$name" ;;
  esac
done
unset IFS line name
set +f
`

export const exported = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join("")

/** How to reach the proxy of this host. Without a password nothing is let through. */
export interface ProxyAccess {
  readonly socket: string
  readonly username: string
  readonly password: string
}

/** Where the program brings what its command said of files that it may not write. */
export interface DeskAccess {
  readonly socket: string
  /** A folder that no command sees. */
  readonly folder: string
}

/** Inside: the port on which the proxy answers. */
const proxyPort = 3128
/** As `/proc/net/tcp` writes it. */
const proxyPortHex = proxyPort.toString(16).toUpperCase().padStart(4, "0")

const proxyVariables = ({ password, username }: ProxyAccess): Record<string, string> => {
  const url = `http://${username}:${password}@127.0.0.1:${proxyPort}`
  return {
    ...Object.fromEntries(
      ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"].map((name) => [name, url])
    ),
    NO_PROXY: "localhost,127.0.0.1,::1",
    no_proxy: "localhost,127.0.0.1,::1",
    NODE_USE_ENV_PROXY: "1"
  }
}

/** Waits until the proxy's port is open: a command that connects at once would be refused. */
const forwarding = `socat TCP4-LISTEN:${proxyPort},bind=127.0.0.1,fork,reuseaddr,backlog=512 UNIX-CONNECT:${proxySocket} </dev/null >/dev/null 2>&1 &
tries=0 open=
while [ -z "$open" ] && [ $tries -lt 5000 ]; do
  while read -r _ at _; do case $at in *:${proxyPortHex}) open=1 ;; esac; done </proc/net/tcp
  tries=$((tries+1))
done
`

/** Inside, before the command: shows that it began. `$0` is a number of this start. */
const began = `: >"/tmp/.began-$0"
`

export interface ShellOptions {
  readonly policy: Policy
  /** The shell that reads the commands. */
  readonly shell: string
  readonly bubblewrap: string
  readonly proxy?: ProxyAccess
  readonly desk?: DeskAccess
  /** Whoever starts it chooses the variables, so none is taken away by its name. */
  readonly chosenEnvironment?: boolean
}

/**
 * A file that must not be made is bound to itself if it is there already, and put aside if a command made it: the name
 * cannot be kept free otherwise, since a mount needs a file to lie on.
 */
const keepAbsent = (paths: ReadonlyArray<string>, refused: string) => ({
  before: paths
    .map((path, n) => `present${n}=; [ -e ${quoted(path)} ] || [ -L ${quoted(path)} ] && present${n}=1\n`)
    .join(""),
  binds: paths.map(
    (path, n) => `\${present${n}:+--ro-bind} \${present${n}:+${quoted(path)}} \${present${n}:+${quoted(path)}}`
  ),
  after: paths
    .map(
      (path, n) => `if [ -z "$present${n}" ] && { [ -e ${quoted(path)} ] || [ -L ${quoted(path)} ]; }; then
  mv -f ${quoted(path)} ${quoted(refused)}/$$-${n}
  echo "reprise: ${path.replaceAll(/["$`\\]/g, "?")} says what runs outside of the sandbox, so the command may not make it; it was moved to .reprise/sandbox/refused." >&2
  status=1
fi
`
    )
    .join("")
})

/** Longer than a human lets anybody wait: the answer of the desk. */
const patienceSeconds = 7 * 24 * 3600

/**
 * The output passes through a pipe, in its order: what it says of files that may not be written is known here only. Bubblewrap
 * stays this program's own child, with which it ends; so its exit code comes by a file.
 */
const overheard = ({ folder }: DeskAccess) => ({
  before: `said=${quoted(folder)}/said-$$ code=${quoted(folder)}/code-$$\n`,
  words: ["--json-status-fd", "4"],
  pipe: ' 4>"$code" 2>&1 | tee "$said"',
  status: `status=1
  while read -r _ word at _; do case $word in '"exit-code":') status=\${at%%[!0-9]*} ;; esac; done <"$code"
`
})

const broughtToDesk = ({ socket }: DeskAccess): string => `if [ -s "$said" ]; then
  words=$(LC_ALL=C grep -aiE -m 200 'read-only file system|EROFS' "$said")
  [ -z "$words" ] || printf '%s\n%s\n' "$status" "$words" | socat -t ${patienceSeconds} - UNIX-CONNECT:${quoted(socket)} 2>/dev/null
fi
`

export const sandboxedShell = (options: ShellOptions): string => {
  const { bubblewrap, chosenEnvironment, desk, policy, proxy, shell } = options
  const { after, before, binds } = keepAbsent(policy.absent, policy.refused)
  const heard = desk === undefined ? undefined : overheard(desk)
  const enter = [bubblewrap, ...(heard?.words ?? []), ...bubblewrapArguments(policy, proxy?.socket)].map(quoted)
  const inner = `${began}${proxy === undefined ? "" : forwarding}exec "$@"`
  const mark = `${quoted(policy.temporary)}/.began-$$`
  const command = `${[...enter, ...binds].join(" ")} --chdir "$PWD" -- /bin/sh -c ${quoted(inner)} $$ ${quoted(shell)} "$@"`
  return [
    shellHead,
    chosenEnvironment === true ? "" : withholding,
    exported({ ...policy.environment, SHELL: shell, ...(proxy === undefined ? {} : proxyVariables(proxy)) }),
    `${alone}\n`,
    before,
    heard?.before ?? "",
    "tries=0\n",
    "while :; do\n",
    `  ${command}${heard?.pipe ?? ""}\n`,
    `  ${heard?.status ?? "status=$?\n"}`,
    // A mount of the machine that goes away meanwhile, such as a container's, ends bubblewrap before the command.
    `  if [ $status -ne 1 ] || [ -e ${mark} ] || [ $tries -ge 20 ]; then break; fi\n`,
    "  tries=$((tries+1))\n",
    "done\n",
    desk === undefined ? "" : broughtToDesk(desk),
    `rm -f ${mark}${desk === undefined ? "" : ' "$said" "$code"'}\n`,
    after,
    "exit $status\n"
  ].join("")
}

/** For sessions that the sandbox does not cover: only the passwords are taken away. */
export const openShell = (shell: string): string =>
  [shellHead, withholding, exported({ SHELL: shell }), `${alone}\n`, `exec ${quoted(shell)} "$@"\n`].join("")

/**
 * For a server that runs commands of several sessions: it finds the program of the nearest folder above. `places` repeats
 * the folders of this machine.
 */
export const dispatchingShell = (places: string): string => `${shellHead}places=${quoted(places)}
at=$(pwd -P)
while [ -n "$at" ] && [ ! -f "$places$at/.reprise-shell" ]; do at=\${at%/*}; done
if [ -f "$places$at/.reprise-shell" ]; then exec /bin/sh "$places$at/.reprise-shell" "$@"; fi
echo "reprise: no agent works in $(pwd -P), so commands are not run there. Run it in the workspace." >&2
exit 126
`
