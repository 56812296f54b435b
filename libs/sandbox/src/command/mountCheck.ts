/**
 * Whether each mount of a command lies where it should, and shows what it should. bubblewrap goes by paths, and a command of another run,
 * which has begun before, may exchange a folder on the way with a link at the moment of the mount: it would lead to what is hidden. So
 * whoever is inside looks, before the command, at what the kernel says of the mounts that were made. Pure.
 */
import { proxySocket, type Words } from "./bubblewrap.ts"
import { quoted } from "./shellWords.ts"

/** As the kernel writes a path into its list of mounts. */
const escaped = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, "0")}`)

const binds = ["--bind", "--bind-try", "--ro-bind", "--ro-bind-try"]

/**
 * The mounts of a policy in their order, which is that of the kernel's list, a line each: `=` for one that shows what is at the same
 * place outside, `+` for any other, and the path. `all`: the words for bubblewrap.
 */
export const expectedMounts = (all: ReadonlyArray<Words>): string => {
  const words = all.flatMap((one) => one.words)
  const lines: Array<string> = []
  for (let at = words.lastIndexOf(proxySocket) + 1; at < words.length; at++) {
    const [option = "", first = "", second = ""] = words.slice(at, at + 3)
    if (binds.includes(option)) lines.push(`${first === second ? "=" : "+"} ${escaped(second)}\n`)
    if (option === "--tmpfs") lines.push(`+ ${escaped(first)}\n`)
    at += binds.includes(option) || option === "--symlink" ? 2 : 1
  }
  return lines.join("")
}

/**
 * Reads the expected mounts, and then the kernel's list. All before the proxy's socket come from the machine: they tell which path a
 * mount has on its disk. After it each must be the next one that is expected, or one that the machine has below it; one that is
 * expected may be missing, where the path is gone.
 */
const program = `FNR == 1 { files++ }
files == 1 { count++; kind[count] = $1; point[count] = $2; next }
{ lines++; disk[lines] = $3; root[lines] = $4; at[lines] = $5; if ($5 == proxy) first = lines + 1 }
function onDisk(line,  host, n, path, rest, want) {
  path = at[line]
  for (n = 1; n < first - 1; n++)
    if ((at[n] == "/" || path == at[n] || index(path, at[n] "/") == 1) && (!host || length(at[n]) >= length(at[host]))) host = n
  rest = at[host] == "/" ? path : substr(path, length(at[host]) + 1)
  want = (root[host] == "/" ? "" : root[host]) rest
  return (want == "" ? "/" : want) == root[line] && disk[host] == disk[line]
}
END {
  if (first == 0) { print proxy; exit 1 }
  for (n = 1; n < first - 1; n++) ofMachine[at[n]] = 1
  for (n = first; n <= lines; n++) {
    for (following = now + 1; following <= count && point[following] != at[n]; following++);
    if (following > count) {
      if ((at[n] in ofMachine) && now > 0 && index(at[n], point[now] "/") == 1) continue
      if ((disk[n] " " root[n]) in others) continue
      print at[n]; exit 1
    }
    now = following
    if (kind[now] == "+") others[disk[n] " " root[n]] = 1
    else if (!onDisk(n)) { print at[n]; exit 1 }
  }
}`

/** Outside, where programs are found that no command can write: which one looks. */
export const findingAwk = "reprise_awk=$(command -v awk) && export reprise_awk\n"

/** Inside, before the command: ends with 1 where a mount is not as it should be. Takes the expected mounts from descriptor 6. */
export const checkingMounts = `odd=$(LC_ALL=C "$reprise_awk" -v proxy=${proxySocket} ${quoted(program)} - /proc/self/mountinfo <&6) || {
  printf 'reprise: what is mounted at %s is not what should be there, so the command is not started with it.\\n' "\${odd:-some place}" >&2
  exit 1
}
exec 6<&-
unset odd reprise_awk
`

/** After the words for bubblewrap, at the end of a line: gives descriptor 6, and what follows the line. */
export const givingMounts = (all: ReadonlyArray<Words>) => ({
  descriptor: " 6<<'MOUNTS'",
  afterLine: `${expectedMounts(all)}MOUNTS\n`
})
