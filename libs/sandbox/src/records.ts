/**
 * What the program of a command writes down before it, in a file beside what commands said: the paths that it may not make, a line
 * each, and which files and folders it may not change. Whoever comes next settles that if the command was killed.
 */
import { readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { readForeignText } from "@reprise/process"

/** Begins the name of such a file; the number of the program's process follows. */
export const begunPrefix = "begun-"

const largestBytes = 16 * 1024 * 1024

/** Empty where it is gone. */
export const readRecord = async (record: string): Promise<string> =>
  (await readForeignText(record, { largestBytes, follow: false })) ?? ""

/** The line that says in which workspace the command runs. */
const workspacePrefix = "workspace="

export const workspaceLine = (workspace: string): string => `${workspacePrefix}${workspace}`

/** Undefined: the text is not whole yet. */
export const workspaceOf = (text: string): string | undefined =>
  text
    .split("\n")
    .find((line) => line.startsWith(workspacePrefix))
    ?.slice(workspacePrefix.length)

/** The program's process. */
export const processOf = (record: string): number => Number(basename(record).slice(begunPrefix.length))

/** `folder`: of what commands of one process said. */
export const recordsIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await readdir(folder).catch(() => []))
    .filter((name) => name.startsWith(begunPrefix))
    .map((name) => join(folder, name))

/** Those of all processes. `folder`: of what commands of one of them said. */
export const recordsBeside = async (folder: string): Promise<ReadonlyArray<string>> => {
  const hosts = dirname(dirname(folder))
  const found = (await readdir(hosts).catch(() => [])).map((host) => recordsIn(join(hosts, host, basename(folder))))
  return (await Promise.all(found)).flat()
}
