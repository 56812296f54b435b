/**
 * Programs that stand in for a shell: `PROGRAM -c COMMAND` runs the command in the sandbox. They are scripts, because they
 * start for every command of an agent, and a start of Node takes longer than most commands. Pure.
 */
import type { OfTree } from "@reprise/process"
import { exactly, linksInto } from "../disk/findPaths.ts"
import { obeyedByCommits } from "../nested/gitPointers.ts"
import { instructionSearch } from "../nested/instructionFiles.ts"
import { versionSearch } from "../nested/versionFiles.ts"
import { withheldVariables } from "../policy/credentials.ts"
import type { Policy } from "../policy/policy.ts"
import { madeRepository } from "../refused/refusalReports.ts"
import { type Bubblewrap, bubblewrapArguments, proxySocket, startOf, type Words } from "./bubblewrap.ts"
import { closingDescriptors } from "./closeDescriptors.ts"
import { type Keeping, keepNames } from "./keepNames.ts"
import { checkingMounts, findingAwk, givingMounts } from "./mountCheck.ts"
import { quoted } from "./shellWords.ts"

export const shellHead = "#!/bin/sh\n# Written by Reprise for the commands of agents and quality gates. Do not edit.\n"

/** A program that is not given `-c` is given the command alone. */
export const alone = `case "$1" in -*) ;; *) set -- -c "$1" ;; esac`

/**
 * By name, whoever set them; in the shell itself, since bubblewrap's own environment can be read inside. `but`: patterns of
 * names that stay. A name that no shell can say, such as npm's of a token, dash drops; others hand it on, so they start anew without.
 */
const withholdingAllBut = (but: ReadonlyArray<string>) => `set -f
IFS='
'
given=
for line in $(export -p); do
  name=\${line#export }; name=\${name#declare -x }; name=\${name%%=*}
  case $name in
    '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;;
${
  but.length === 0
    ? ""
    : `    ${but.join("|")}) ;;
`
}    ${withheldVariables.join("|")}) unset "$name"; continue ;;
  esac
  given="$given \\\${$name+$name=\\"\\$$name\\"}"
done
unset IFS line name
set +f
if [ -n "$BASH_VERSION$KSH_VERSION$ZSH_VERSION" ] && [ -z "$reprise_anew" ]; then
  eval "exec /usr/bin/env -i reprise_anew=1 $given /bin/sh \\"\\$0\\" \\"\\$@\\""
fi
unset given reprise_anew
`

export const withholding = withholdingAllBut([])

export const exported = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join("")

/** Where programs are found. */
export interface ProgramPaths {
  /** The folder of Reprise's own programs: an agent's program finds its git there, its commands find the user's. */
  readonly own: string
  /** A `PATH` of folders that no command can write, for what runs outside of the sandbox. */
  readonly outside: string
  /** What leads into the repository: for the command alone. */
  readonly inTree: OfTree
}

/** Sets `inside` to the command's `PATH`. */
export const choosingPrograms = ({ inTree: { path }, outside, own }: ProgramPaths) => `set -f
IFS=: inside=${path === "" ? "" : quoted(path)}
for entry in $PATH; do
  case $entry in ${quoted(own)}/*) ;; *) inside=$inside\${inside:+:}$entry ;; esac
done
PATH=${quoted(outside)}
unset IFS entry
set +f
`

const asInside = ({ inTree }: ProgramPaths): string =>
  [
    '--setenv PATH "$inside"',
    ...Object.entries(inTree.variables).map(([name, value]) => `--setenv ${name} ${quoted(value)}`)
  ].join(" ")

/**
 * Of the shell that reads the commands. Bash takes a pipe of Node's for a connection, over which the first shell would read
 * the user's startup file: what that prints would be in a command's output.
 */
export const ofShell = (shell: string): Readonly<Record<string, string>> => ({ SHELL: shell, SHLVL: "1" })

/** How to reach the proxy of this host. Without a password nothing is let through. */
export interface ProxyAccess {
  readonly socket: string
  readonly username: string
  readonly password: string
}

/** Where the program brings what its command said of files that it may not write. */
export interface ReportSocket {
  readonly socket: string
  /** A folder that no command sees. */
  readonly folder: string
}

/** Inside: the port on which the proxy answers. */
const proxyPort = 3128

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

/**
 * Inside: what comes to a port goes to a socket. Waits until the port is open: a command that connects at once would be
 * refused.
 */
const forwardingTo = (port: number, socket: string) => {
  const asProcWritesIt = port.toString(16).toUpperCase().padStart(4, "0")
  return `socat TCP4-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,backlog=512 UNIX-CONNECT:${socket} </dev/null >/dev/null 2>&1 &
tries=0 open=
while [ -z "$open" ] && [ $tries -lt 5000 ]; do
  while read -r _ at _; do case $at in *:${asProcWritesIt}) open=1 ;; esac; done </proc/net/tcp
  tries=$((tries+1))
done
`
}

const forwarding = forwardingTo(proxyPort, proxySocket)

const enterFolder = `cd -- "$0" 2>/dev/null || { printf 'reprise: %s is not there in the sandbox. Run the command in the workspace.\\n' "$0" >&2; exit 126; }
`

/**
 * Inside, before the command: shows that it began, in a file that the command does not see; then goes to its folder, which
 * an agent may have chosen among those that are hidden.
 */
const began = `echo >&5; exec 5>&-
${enterFolder}`

export interface ShellOptions {
  readonly policy: Policy
  /** The shell that reads the commands. */
  readonly shell: string
  readonly bubblewrap: Bubblewrap
  readonly proxy?: ProxyAccess
  readonly reports: ReportSocket
  /** A file with paths, a line each: when something there changes, it is as if a repository had. */
  readonly dependencies: string
  /** A file from the time of the last look at the workspace: what changed since then was not looked at. */
  readonly looked: string
  readonly keeping: Keeping
  readonly programs: ProgramPaths
  /** Whoever starts it chooses the variables, so none is taken away by its name. */
  readonly chosenEnvironment?: boolean
}

/** Words that are left out while a variable is empty. */
const ifSet = (name: string, words: ReadonlyArray<string>) =>
  words.map((word) => `\${${name}:+${quoted(word)}}`).join(" ")

/** What has gone meanwhile needs not be hidden, and cannot be: a mount needs something to lie on. */
export const hiding = (all: ReadonlyArray<Words>) => {
  const needed = [...new Set(all.flatMap(({ needs }) => needs ?? []))]
  return {
    before: needed.map((path, n) => `hidden${n}=; [ -e ${quoted(path)} ] && hidden${n}=1\n`).join(""),
    words: all.map(({ needs, words }) =>
      needs === undefined ? words.map(quoted).join(" ") : ifSet(`hidden${needed.indexOf(needs)}`, words)
    )
  }
}

/** How long the answer to a report may take: longer than a human lets anybody wait. */
const patienceSeconds = 7 * 24 * 3600

/**
 * The output passes through a pipe, in its order: what it says of files that may not be written is known here only. Bubblewrap
 * stays this program's own child, with which it ends; so its exit code comes by a file. What the command left behind is
 * killed with the first process, which a command may have taken over: it is killed whatever it does, and nothing is looked at
 * before it is gone. Its name may hold anything.
 */
const overheard = ({ folder }: ReportSocket) => ({
  before: ["said", "code", "start"].map((name) => `${name}=${quoted(folder)}/${name}-$$\n`).join(""),
  own: ["--json-status-fd", "4"],
  pipe: ' 4>"$code" 5>"$start" 2>&1 | tee "$said"',
  status: `status=1 first= space=
  while read -r _ word at rest; do
    case $word in
      '"exit-code":') status=\${at%%[!0-9]*} ;;
      '"child-pid":') first=\${at%%[!0-9]*} space=\${rest##*'"pid-namespace": '} space=\${space%%[!0-9]*} ;;
    esac
  done <"$code"
  if [ -n "$first" ] && [ -e "/proc/$first" ] && [ "$(readlink "/proc/$first/ns/pid")" = "pid:[$space]" ]; then kill -KILL "$first" 2>/dev/null; fi
  while [ -n "$first" ] && read -r state 2>/dev/null <"/proc/$first/stat"; do
    case \${state##*)} in " Z "* | " X "*) break ;; esac
    sleep 0.01
  done
`
})

/**
 * Whether the command, or anybody since the last look, has changed what makes a folder a repository, what a repository obeys, skills,
 * files of version managers, links by names of instructions, or links to where nothing is looked for; also when that cannot be told, or
 * a killed command may have had a moment left. Change times cannot be set back, and the record of what it may not make was written
 * before it began.
 */
const lookForRepositories = (
  { git, stateDirectory, workspace }: Policy,
  { dependencies, looked }: Pick<ShellOptions, "dependencies" | "looked">
): string => {
  // Others write meanwhile, such as agents' file tools. Without a file nobody has looked, which find says.
  const since = `'(' -cnewer "$begun" -o -cnewer ${quoted(looked)} ')'`
  const ofRepository = ["HEAD", "config", "config.worktree", "commondir", "worktrees", "objects", "refs", "hooks"]
  const names = [".git", ...ofRepository, ...obeyedByCommits, "index", "sharedindex.*", ".claude"].map(
    (name) => `-iname ${quoted(name)}`
  )
  const inner = ["*/hooks/*", "*/.claude/skills", "*/.claude/skills/*"].map((path) => `-ipath '${path}'`)
  const links = linksInto([stateDirectory, ...(git === undefined ? [] : [git])])
  const changed = `'(' ${[...names, ...inner, ...[instructionSearch, versionSearch, links].map((search) => search.map(quoted).join(" "))].join(" -o ")} ')' ${since} -print -quit`
  const passedOver = [`${workspace}/.git`, stateDirectory].map(exactly)
  const pruned = `'(' ${passedOver.map((path) => `-path ${quoted(path)}`).join(" -o ")} ')' -prune -o`
  return [
    `made=$killed\n[ -n "$made" ] || made=$(find ${quoted(workspace)} ${pruned} ${changed} 2>&1)\n`,
    `if [ -z "$made" ] && [ -s ${quoted(dependencies)} ]; then
  set --
  while IFS= read -r place; do set -- "$@" "$place"; done <${quoted(dependencies)}
  made=$(find "$@" ${pruned} ${since} -print -quit 2>/dev/null)
fi
`
  ].join("")
}

const askReporter = ({ socket }: ReportSocket) =>
  `socat -t ${patienceSeconds} - UNIX-CONNECT:${quoted(socket)} 2>/dev/null`

/** Nobody has said what a command made whose program was killed; this one has taken its record away. */
const reportedForKilled = (reports: ReportSocket): string =>
  `[ -z "$killed" ] || printf '%s\n0\n' ${madeRepository} | ${askReporter(reports)} >&2\n`

const reported = (reports: ReportSocket): string => `words=
[ ! -s "$said" ] || words=$(LC_ALL=C grep -aiE -m 200 'read-only file system|EROFS' "$said")
if [ -n "$made$words" ]; then
  printf '%s\n%s\n%s\n' "\${made:+${madeRepository}}" "$exited" "$words" | ${askReporter(reports)}
fi
`

export const sandboxedShell = (options: ShellOptions): string => {
  const { bubblewrap, chosenEnvironment, reports, keeping, policy, programs, proxy, shell } = options
  const names = keepNames(policy, keeping)
  const heard = overheard(reports)
  const all = bubblewrapArguments(policy, proxy?.socket)
  const hidden = hiding(all)
  const expected = proxy === undefined ? { descriptor: "", afterLine: "" } : givingMounts(all)
  const enter = [...startOf(bubblewrap, heard.own).map(quoted), asInside(programs), ...hidden.words]
  const inner = proxy === undefined ? `${began}exec "$@"` : `${checkingMounts}${began}${forwarding}exec "$@"`
  return [
    shellHead,
    closingDescriptors,
    chosenEnvironment === true ? "" : withholding,
    choosingPrograms(programs),
    findingAwk,
    exported({ ...policy.environment, ...ofShell(shell), ...(proxy === undefined ? {} : proxyVariables(proxy)) }),
    `${alone}\n`,
    names.before,
    reportedForKilled(reports),
    heard.before,
    "tries=0\n",
    "while :; do\n",
    hidden.before,
    `  ${enter.join(" ")} -- /bin/sh -c ${quoted(inner)} "$PWD" ${quoted(shell)} "$@"${expected.descriptor}${heard.pipe}\n`,
    expected.afterLine,
    `  ${heard.status}`,
    // A mount of the machine that goes away meanwhile, such as a container's, ends bubblewrap before the command; so does one that
    // another command led elsewhere.
    `  if [ $status -ne 1 ] || [ -s "$start" ] || [ $tries -ge 20 ]; then break; fi\n`,
    "  tries=$((tries+1))\n",
    "done\n",
    lookForRepositories(policy, options),
    // What may not be made counts for no repository, so it goes first.
    "exited=$status\n",
    names.after,
    reported(reports),
    names.end('"$said" "$code" "$start"'),
    "exit $status\n"
  ].join("")
}

/** A port of this machine that the program reaches under the same number. */
export interface LocalPort {
  readonly port: number
  /** Outside: a socket that leads to the port. */
  readonly socket: string
}

export interface AgentProgramOptions extends Pick<ShellOptions, "policy" | "bubblewrap" | "keeping" | "programs"> {
  readonly proxy: ProxyAccess
  readonly ports: ReadonlyArray<LocalPort>
  /** Patterns of the names of variables that it needs although they look like secrets. */
  readonly variables: ReadonlyArray<string>
}

const localSocket = (port: number) => `/run/reprise-port-${port}`

/** `PROGRAM WORD …` runs these words inside, with this program's own input and output, until they end. */
export const agentProgramText = (options: AgentProgramOptions): string => {
  const { bubblewrap, keeping, policy, ports, programs, proxy, variables } = options
  const names = keepNames(policy, keeping)
  const all = [
    ...bubblewrapArguments(policy, proxy.socket),
    ...ports.map(({ port, socket }): Words => ({ words: ["--bind", socket, localSocket(port)] }))
  ]
  const hidden = hiding(all)
  const expected = givingMounts(all)
  const inner = [
    checkingMounts,
    enterFolder,
    forwarding,
    ...ports.map(({ port }) => forwardingTo(port, localSocket(port)))
  ].join("")
  return [
    shellHead,
    closingDescriptors,
    withholdingAllBut(variables),
    choosingPrograms(programs),
    findingAwk,
    exported({ ...policy.environment, ...proxyVariables(proxy) }),
    names.before,
    hidden.before,
    [...startOf(bubblewrap).map(quoted), asInside(programs), ...hidden.words].join(" "),
    ` -- /bin/sh -c ${quoted(`${inner}exec "$@"`)} "$PWD" "$@"${expected.descriptor}\n`,
    expected.afterLine,
    "status=$?\n",
    names.after,
    names.end(),
    "exit $status\n"
  ].join("")
}

/** For sessions that the sandbox does not cover: only the passwords are taken away. */
export const openShell = (shell: string, programs: ProgramPaths): string =>
  [
    shellHead,
    withholding,
    choosingPrograms(programs),
    exported({ ...ofShell(shell), ...programs.inTree.variables }),
    `${alone}\n`,
    `PATH=$inside\nunset inside\nexec ${quoted(shell)} "$@"\n`
  ].join("")

/** Names the folder of the session whose command it is. Whoever starts the server sees to it that each command has it. */
export const sessionFolder = "REPRISE_SESSION_FOLDER"

/**
 * For a server that runs commands of several sessions: it finds the program of the session's folder, wherever the command
 * begins: an agent chooses that, and its folder could be another agent's. `places` repeats the folders of this machine.
 */
export const dispatchingShell = (places: string): string => `${shellHead}places=${quoted(places)}
if [ -z "$${sessionFolder}" ]; then
  echo "reprise: OpenCode did not say whose command this is, so it is not run. Its version may be too old: run 'reprise doctor'." >&2
  exit 126
fi
at=$(CDPATH= cd -P -- "$${sessionFolder}" && pwd -P)
while [ -n "$at" ] && [ ! -f "$places$at/.reprise-shell" ]; do at=\${at%/*}; done
if [ -f "$places$at/.reprise-shell" ]; then exec /bin/sh "$places$at/.reprise-shell" "$@"; fi
printf 'reprise: no agent works in %s, so commands are not run there. Run it in the workspace.\\n' "$${sessionFolder}" >&2
exit 126
`
