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

/** Those of all processes. `hosts`: the folder with theirs; `heard`: in each, the folder of what commands said. */
const recordsIn = async (hosts: string, heard: string): Promise<ReadonlyArray<string>> => {
  const found: Array<string> = []
  for (const host of await readdir(hosts).catch(() => [])) {
    const folder = join(hosts, host, heard)
    for (const name of await readdir(folder).catch(() => [])) {
      if (name.startsWith(begunPrefix)) found.push(join(folder, name))
    }
  }
  return found
}

/** `folder`: of what commands of one process said. */
export const recordsBeside = (folder: string): Promise<ReadonlyArray<string>> =>
  recordsIn(dirname(dirname(folder)), basename(folder))
