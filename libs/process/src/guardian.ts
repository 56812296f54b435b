/**
 * What every guard can do, as functions of its shell. They expect `$mark`, which the program alone carries, so that the
 * sweep does not meet the guard; `$program`, its process id; and the pipe from us at descriptor 3.
 *
 * `sweep` ends what carries the mark. It repeats until it has found nothing twice, as a process may fork meanwhile, and
 * one that is just replacing its program has no environment for a moment. It takes no notice of grep's status, which is
 * bad when a process ends while it is looked at. Without /proc it finds nothing, and the next owner's
 * `endLeftovers` does it.
 * `listen` waits until nothing holds the pipe any more and ends the program and what carries the mark. It outlives the
 * main shell if that is killed. A sleep may outlive its shell: it carries no environment.
 */
export const guardian = `
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
  patience=30
  while kill -0 $program && [ $patience -gt 0 ]; do env -i sleep 0.1 || env -i sleep 1; patience=$((patience - 1)); done
  kill -KILL $program
  sweep
}
`
