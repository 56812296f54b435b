/**
 * The beginning of each program that enters bubblewrap: which of the files that it was started with go inside. By an open
 * folder a command would reach what its mounts hide. Node closes what it has opened itself, but not all that it was started
 * with, and bubblewrap closes nothing. Pure.
 */
import { quoted } from "./shellWords.ts"

/** Of bash, which knows numbers of more than one digit; other shells need not. Becomes the program again. */
const closeAndReturn = `for at in /proc/$$/fd/*; do
  at=\${at##*/}
  case $at in [012]) ;; *) eval "exec $at>&-" ;; esac
done
REPRISE_DESCRIPTORS=closed exec /bin/sh "$0" "$@"`

/** By their paths: what a `PATH` has first may be a command's. */
const shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"]

/**
 * Standard input stays if it is a pipe or a socket: a file could be opened anew for writing, and a terminal be typed into. Of
 * the others any shell closes those up to 9 itself; what has the flag for it (O_CLOEXEC) closes with the next program.
 */
export const closingDescriptors = `[ -p /proc/$$/fd/0 ] || [ -S /proc/$$/fd/0 ] || exec </dev/null
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
  for shell in ${shells.join(" ")}; do
    if [ -z "$closed" ] && [ -x $shell ]; then exec $shell --norc --noprofile -p -c ${quoted(closeAndReturn)} "$0" "$@"; fi
  done
  printf 'reprise: the command was not run, because its program has a file open that /bin/sh cannot close (number %s). Install bash, or close it where Reprise is started.\\n' "$open" >&2
  exit 126
fi
unset closed open descriptor name flags
`
