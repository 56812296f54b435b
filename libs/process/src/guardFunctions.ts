/**
 * Shell functions that every guard contains. They expect `$mark`, which the program carries and the guard does not, so
 * that the sweep spares the guard; `$program`, its process id; and the pipe from us at descriptor 3.
 *
 * `sweep` ends what carries the mark. It repeats until it has found nothing twice, as a process may fork meanwhile, and
 * one that is just replacing its program has no environment for a moment. It ignores grep's exit code, which is
 * not 0 when a process ends while it is read. Without /proc it finds nothing, and the next owner's
 * `endLeftovers` ends the leftovers.
 * `listen` waits until nothing holds the pipe any more and ends the program and what carries the mark. It outlives the
 * main shell if that is killed. A sleep may outlive its shell: it carries no environment.
 */
export const guardFunctions = `
sweep() {
  rounds=20 clean=0
  while [ $rounds -gt 0 ] && [ $clean -lt 2 ]; do
    found=$(grep -lzxF -e "$mark" /proc/[0-9]*/environ)
    if [ -n "$found" ]; then clean=0; else clean=$((clean + 1)); fi
    for file in $found; do pid=\${file#/proc/}; kill -KILL "\${pid%/environ}"; done
    rounds=$((rounds - 1))
  done
}
listen() {
  while read -r _ <&3; do :; done
  kill -TERM $program
  tries=30
  while kill -0 $program && [ $tries -gt 0 ]; do env -i sleep 0.1 || env -i sleep 1; tries=$((tries - 1)); done
  kill -KILL $program
  sweep
}
`
