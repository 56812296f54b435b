/**
 * The beginning of each program that enters bubblewrap: which of the files that it was started with go inside. By an open
 * folder a command would reach what its mounts hide. Node closes what it has opened itself, but not all that it was started
 * with, and bubblewrap closes nothing. Pure.
 */
import { quoted } from "./shellWords.ts"

/** Of Node: closes what a shell without numbers of two digits cannot, and becomes the program again. */
const closeAndReturn = `const { closeSync, readdirSync, readFileSync } = require("node:fs")
for (const name of readdirSync("/proc/self/fd")) {
  if (Number(name) < 3) continue
  try {
    const flags = /^flags:\\s*(\\d+)/m.exec(readFileSync("/proc/self/fdinfo/" + name, "utf8"))
    if ((parseInt(flags[1], 8) & 0o2000000) === 0) closeSync(Number(name))
  } catch {}
}
process.execve("/bin/sh", ["/bin/sh", ...process.argv.slice(1)], { ...process.env, REPRISE_DESCRIPTORS: "closed" })`

/**
 * Standard input stays if it is a pipe or a socket: a file could be opened anew for writing, and a terminal be typed into. Of
 * the others a shell itself closes those up to 9; what has the flag for it (O_CLOEXEC) closes with the next program.
 */
export const closingDescriptors = `[ -p /dev/stdin ] || [ -S /dev/stdin ] || exec </dev/null
closed=$REPRISE_DESCRIPTORS open=
unset REPRISE_DESCRIPTORS
for descriptor in /proc/$$/fd/*; do
  descriptor=\${descriptor##*/}
  case $descriptor in
    [012]) ;;
    [3-9]) eval "exec $descriptor>&-" ;;
    [1-9]*)
      while read -r name flags; do
        case $name$flags in flags:*[2367]??????) ;; flags:*) open=$descriptor ;; esac
      done <"/proc/$$/fdinfo/$descriptor"
      ;;
  esac
done 2>/dev/null
if [ -n "$open" ]; then
  [ -n "$closed" ] || exec ${quoted(process.execPath)} --disable-warning=ExperimentalWarning -e ${quoted(closeAndReturn)} "$0" "$@"
  echo "reprise: the open file $open of this program could not be closed, so the command was not run. See /proc/$$/fd." >&2
  exit 126
fi
unset closed open descriptor name flags
`
