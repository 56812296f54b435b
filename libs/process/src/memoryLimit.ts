/**
 * How much memory a git of Reprise may take: a small commit can name more paths, and a small file unfold to more bytes, than any
 * machine holds (docs/design/workspace.md#what-an-agent-wrote).
 */
import { totalmem } from "node:os"

const gigabyte = 1024 ** 3

/** A difference in a text of 340 MB takes 2.7 GB (measured); a status of 300 000 files takes 0.2 GB. */
const most = 4 * gigabyte
const least = gigabyte / 2

/** Half of the machine or container, within limits. In bytes. Pure. */
export const memoryFor = (machineBytes: number, containerBytes: number | undefined): number => {
  const bytes = containerBytes === undefined || containerBytes === 0 ? machineBytes : containerBytes
  return Math.max(least, Math.min(most, Math.floor(Math.min(bytes, machineBytes) / 2)))
}

export const usualMemoryBytes = (): number => memoryFor(totalmem(), process.constrainedMemory())

/**
 * The kernel counts what a process writes into memory of its own: not the files that it maps, such as git's packs, and not
 * what threads only reserve, for which `ulimit -v` would refuse 1.2 GB to the status above. A system without such a limit,
 * such as macOS, has none.
 */
const script = 'ulimit -d "$0" 2>/dev/null || :; exec "$@"'

/** The words that start a program with a limit. It takes 0.7 ms longer. */
export const withMemoryLimit = (bytes: number, words: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...["/bin/sh", "-c", script, `${Math.ceil(bytes / 1024)}`],
  ...words
]
