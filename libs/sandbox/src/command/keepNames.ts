/**
 * What the program of a command does before and after it, so that what commands may not make or change stays as it is
 * (docs/design/workspace.md#sandbox). Pure.
 */
import { basename, dirname, relative, resolve } from "node:path"
import { isWithin } from "../policy/mounts.ts"
import type { Link, Policy } from "../policy/policy.ts"
import { holdRequest, settledAnswer, settleRequest } from "../replaced/folderKeeper.ts"
import { copySuffix, type HeldFile, putBackName, recordOf } from "../replaced/heldFiles.ts"
import { type HeldFolders, whichFolders } from "../replaced/heldFolders.ts"
import { begunPrefix, workspaceLine } from "./records.ts"
import { isThere, quoted } from "./shellWords.ts"

/**
 * `inside PATH WORD …` runs the words in the folder of a path, unless a link leads there: between a look and a move another
 * command may swap the folder with a link, and a move by the whole path would be one of somebody's own files. `aside PATH NAME`
 * moves a path away, under a name. A command may have taken the right to do so from the owner.
 */
const movingAside = (refused: string) => `inside() (
  folder=\${1%/*}
  cd -P -- "\${folder:-/}" 2>/dev/null && [ "$(pwd -P)" = "\${folder:-/}" ] || exit 1
  shift
  "$@"
)
loosen() {
  [ -L "$1" ] || [ ! -d "$1" ] || chmod u+rwx "$1"
}
aside() {
  to=${quoted(refused)}/"$$-$2"
  while ${isThere('"$to"')}; do to=$to-; done
  inside "$1" mv -f "./\${1##*/}" "$to" 2>/dev/null && return
  above=\${1%/*}
  inside "$above" loosen "./\${above##*/}"
  inside "$1" loosen "./\${1##*/}"
  inside "$1" mv -f "./\${1##*/}" "$to"
}
linkAbove() {
  case \${1%/*} in "") return 1 ;; esac
  linkAbove "\${1%/*}" && return
  [ -L "\${1%/*}" ] && link=\${1%/*}
}
`

const aside = (path: string, name: string) => `aside ${path} "${name}"`

/** `aside` for `$path`, and says so. */
const refusing = (name: string) => `${aside('"$path"', name)} || stuck=1
  printf 'reprise: %s says what runs outside of the sandbox, so the command may not make it; it was moved to .reprise/sandbox/refused.\\n' "$path" >&2
  status=1`

/** The paths are words: they may be ten thousands, and a shell ends with a fault where it reads as many commands in one group. */
const forEachOf = (paths: ReadonlyArray<string>, body: string) =>
  paths.length === 0 ? "" : `n=0\nfor path in ${paths.map(quoted).join(" ")}; do\n${body}\nn=$((n+1))\ndone\n`

/** Folders above a path, below the workspace. */
const foldersAbove = (path: string, workspace: string): ReadonlyArray<string> => {
  const above = dirname(path)
  return above !== workspace && isWithin(above, workspace) ? [...foldersAbove(above, workspace), above] : []
}

/** Where a path leads through links that stay as they are. */
const throughLinks = (path: string, links: ReadonlyArray<Link>, followed = 0): string => {
  const link = links.find((one) => path !== one.path && isWithin(path, one.path))
  if (link === undefined || followed > longestChain) return path
  return throughLinks(resolve(dirname(link.path), link.target, relative(link.path, path)), links, followed + 1)
}

const longestChain = 8

/**
 * `hold PATH SECOND`: before a command, a file that somebody has replaced since is the right one, unless other commands that may
 * have written it run, or were killed. `holds PATH SECOND NAME`: after it, nobody knows. What is put at a path is a copy: no name
 * that a command has made leads to it, and a command whose mount has ended cannot write what it is compared with.
 */
const holding = (folder: string) => `isHeld() {
  [ ! -L "$1" ] && [ "$1" -ef "$2" ]
}
isSame() {
  isHeld "$1" "$2" || { [ ! -L "$1" ] && [ -f "$1" ] && cmp -s "$1" "$2${copySuffix}"; }
}
copyTo() {
  cp -p "$3" "$2.$$" && { sync "$2.$$" 2>/dev/null; inside "$1" mv -fT "$2.$$" "./\${1##*/}"; } && return
  rm -f "$2.$$"
  return 1
}
holds() {
  ! ${isThere('"$1"')} || [ ! -e "$2" ] || isSame "$1" "$2" && return
  aside "$1" "$3" && copyTo "$1" "$2" "$2${copySuffix}" || stuck=1
  printf '%s\\n' "$1" >>${quoted(folder)}/${putBackName}
  printf 'reprise: %s was replaced while a command ran that could have written it then; it was moved to .reprise/sandbox/refused, and the one from before is back.\\n' "$1" >&2
}
hold() {
  isHeld "$1" "$2" && return
  if [ -n "$beside" ]; then holds "$1" "$2" held; return; fi
  rm -f "$2"
  [ ! -L "$1" ] && [ -f "$1" ] || return
  names=1
  for other in "\${2%/*/*/*}"/*/held/"\${2##*/}"; do [ ! "$other" -ef "$1" ] || names=$((names+1)); done
  [ -z "$(find "$1" -prune -links +$names)" ] || copyTo "$1" "$2" "$1"
  inside "$1" ln "./\${1##*/}" "$2" && cp -fp "$1" "$2${copySuffix}"
}
`

/** Longer than anybody looks at a few folders. */
const patienceSeconds = 600

/**
 * `folders` says which folders these are now. Of a command whose folders are others by now, Reprise's process settles that: it is
 * rare, and long to say here. Where it does not answer, the record stays, and no command begins.
 */
const keepingFolders = ({ folders: { copied, paths, stamp }, keeper }: Keeping) => `folders() {
  ${paths.length === 0 ? ":" : `${whichFolders} ${paths.map(quoted).join(" ")} 2>/dev/null`}
}
ask() {
  printf '%s\n' "$@" | socat -t ${patienceSeconds} - UNIX-CONNECT:${quoted(keeper)} 2>/dev/null
}
settle() {
  answer=$(ask ${settleRequest} "\${1##*/}")
  case $answer in
    *${settledAnswer}) ;;
    *)
      echo "reprise: a protected folder was replaced while a command ran, and Reprise does not answer what is to be done about it. No command runs until it does: start Reprise again." >&2
      return 1
      ;;
  esac
  printf %s "\${answer%${settledAnswer}}" >&2
}
copyFolders() {
  ${copied.length === 0 ? "return" : `[ -e ${quoted(stamp)} ] && [ -z "$(find ${copied.map(quoted).join(" ")} -cnewer ${quoted(stamp)} -print -quit 2>/dev/null)" ] || ask ${[holdRequest, ...paths].map(quoted).join(" ")}`}
}
`

/** What keeps protected files and folders as they are. */
export interface Keeping {
  /** Of what commands said. */
  readonly folder: string
  readonly files: ReadonlyArray<HeldFile>
  readonly folders: HeldFolders
  /** The socket of Reprise's process that answers about folders. */
  readonly keeper: string
}

/**
 * What must not be made is put aside if a command made it: the name cannot be kept free otherwise, since a mount needs a file to
 * lie on. What was there when the policy was made is mounted; what appeared since is not, since it may be a link of another
 * command's to something that is hidden. Which these are is written down while the command runs: whoever comes next puts them
 * aside if it was killed, and no command runs as long as one stays. Sets `killed` if one was.
 */
export const keepNames = (policy: Policy, keeping: Keeping) => {
  const { files: held, folder } = keeping
  const { links, refused } = policy
  const isLink = new Set(links.map(({ path }) => path))
  const couldWrite = (path: string) =>
    policy.mounts.some(({ as, from, path: mount }) => as === "writable" && from === undefined && isWithin(path, mount))
  // What a link of the user's leads to elsewhere is nobody's but the user's.
  const real = (paths: ReadonlyArray<string>) => [
    ...new Set(
      paths.map((path) => throughLinks(path, links)).filter((path, at) => path === paths[at] || couldWrite(path))
    )
  ]
  const isPresent = new Set(real(policy.present))
  const wereThere = real(policy.kept).filter((path) => isPresent.has(path))
  const kept = [...wereThere, ...real(policy.kept).filter((path) => !isPresent.has(path))]
  // One that was replaced or removed is put back, as a file could not have been.
  const linksKept = links.map(({ path, target }, n) => {
    const at = quoted(path)
    return `if [ ! -L ${at} ] || [ "$(readlink ${at})" != ${quoted(target)} ]; then
  if ${isThere(at)}; then ${aside(at, `link-${n}`)}; fi
  inside ${at} ln -s ${quoted(target)} ${quoted(`./${basename(path)}`)}
fi
`
  })
  const above = [...new Set(kept.flatMap((path) => foldersAbove(path, policy.workspace)))].filter(
    (path) => !isLink.has(path)
  )
  return {
    before: [
      movingAside(refused),
      holding(folder),
      keepingFolders(keeping),
      `stuck= killed= begun=${quoted(folder)}/${begunPrefix}$$\n`,
      // Those of other processes, too.
      `beside=\nfor other in ${quoted(dirname(dirname(folder)))}/*/${quoted(basename(folder))}/${begunPrefix}*; do [ ! -f "$other" ] || beside=1; done\n`,
      ...held.map((file) => `hold ${quoted(file.path)} ${quoted(file.held)}\n`),
      `for left in ${quoted(folder)}/${begunPrefix}*; do
  [ -f "$left" ] && ! kill -0 "\${left##*-}" 2>/dev/null || continue
  others=
  while IFS= read -r path; do
    case $path in
      /*) ;;
      @*) [ "$(${whichFolders} "\${path#@*=}" 2>/dev/null)" = "$path" ] || others=1; continue ;;
      *) continue ;;
    esac
    # Through a link that the command made, what lies elsewhere would be moved.
    if linkAbove "$path"; then path=$link; fi
    # Reprise's process may do the same at this moment.
    if ${isThere('"$path"')}; then ${aside('"$path"', `\${left##*-}-\${path##*/}`)} || { ${isThere('"$path"')} && stuck=$path; }; fi
  done <"$left"
  [ -z "$others" ] || settle "$left" || exit 126
  [ -n "$stuck" ] || rm -f "$left"
  killed=1
done
if [ -n "$stuck" ]; then
  printf 'reprise: a command made %s, which may not be made, and it cannot be moved away. No command runs until it is removed.\\n' "$stuck" >&2
  exit 126
fi
`,
      "copyFolders\nwere=$(folders)\n",
      ...linksKept,
      // What was there when the policy was made, and is there now, is nothing that a command makes.
      `forEachKept() {
${forEachOf(kept, '"$1"')}:
}
mayBeThere() {
  [ $n -lt ${wereThere.length} ]
}
writeDown() {
  if mayBeThere; then
    eval "present$n="
    if ${isThere('"$path"')}; then eval "present$n=1"; return; fi
  fi
  printf '%s\\n' "$path"
}
refuse() {
  ${isThere('"$path"')} || return 0
  if mayBeThere && eval "[ -n \\"\\$present$n\\" ]"; then return 0; fi
  ${refusing("$n")}
}
`,
      `{ printf '%s\\n' ${quoted(workspaceLine(policy.workspace))}\n`,
      "forEachKept writeDown\n",
      ...held.map((file) => `printf '%s\\n' ${quoted(recordOf(file))}\n`),
      '[ -z "$were" ] || printf \'%s\\n\' "$were"\n',
      `} >"$begun"\n`
    ].join(""),
    after: [
      ...linksKept,
      // Through a link that a command made, what lies elsewhere would be moved.
      forEachOf(
        above,
        `  if [ -L "$path" ]; then
    ${refusing("above-$n")}
  fi`
      ),
      "forEachKept refuse\n",
      ...held.map((file, n) => `holds ${quoted(file.path)} ${quoted(file.held)} held-${n}\n`),
      '[ "$(folders)" = "$were" ] || settle "$begun" || stuck=1\n'
    ].join(""),
    /** When all has been said: from then on nobody takes the command for one that was killed. `files`: words, removed as well. */
    end: (files = "") => `set -- ${files}
[ -n "$stuck" ] || set -- "$@" "$begun"
[ $# -eq 0 ] || rm -f "$@"
`
  }
}
