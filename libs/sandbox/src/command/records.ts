/**
 * What the program of a command writes down before it, in a file beside what commands said: the paths that it may not make, a line
 * each, and which files and folders it may not change. Whoever comes next settles that if the command was killed.
 */
import { readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { hasCode, readForeignPart, readForeignText } from "@reprise/process"

/** Begins the name of such a file; the number of the program's process follows. */
export const begunPrefix = "begun-"

/** A policy with more to write down is refused (`policy/keptLimits.ts`). */
export const largestRecord = 16 * 1024 * 1024

/** Nobody knows what a command may have made that it may not make. */
export class UnreadableRecord extends Error {
  constructor(record: string, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super(
      `${record} says which files a command may not make, and cannot be read, so nothing goes on here: ${why} ` +
        "If you remove it, look first for files in the workspace that programs obey by themselves (docs/security.md#the-sandbox): a killed command may have made some.",
      { cause }
    )
  }
}

/** Empty where it is gone. Rejected with `UnreadableRecord`. */
export const readRecord = async (record: string): Promise<string> => {
  const text = await readForeignText(record, { largestBytes: largestRecord, follow: false }).catch((error) =>
    Promise.reject(new UnreadableRecord(record, error))
  )
  return text ?? ""
}

/** The line that says in which workspace the command runs. */
const workspacePrefix = "workspace="

export const workspaceLine = (workspace: string): string => `${workspacePrefix}${workspace}`

/** It is the first line. Undefined: that is not whole yet, or cannot be read, which whoever settles the record says. */
export const workspaceOf = async (record: string): Promise<string | undefined> => {
  const part = await readForeignPart(record, 0, { largestBytes: 8192, follow: false }).catch(() => undefined)
  const [first, rest] = part?.bytes.toString("utf8").split("\n", 2) ?? []
  return rest !== undefined && first?.startsWith(workspacePrefix) === true
    ? first.slice(workspacePrefix.length)
    : undefined
}

/** The program's process. */
export const processOf = (record: string): number => Number(basename(record).slice(begunPrefix.length))

/** None where there is no folder. A folder that cannot be listed may have records in it. */
export const namesIn = (folder: string): Promise<ReadonlyArray<string>> =>
  readdir(folder).catch((error) => (hasCode(error, "ENOENT", "ENOTDIR") ? [] : Promise.reject(error)))

/** `folder`: of what commands of one process said. */
export const recordsIn = async (folder: string): Promise<ReadonlyArray<string>> =>
  (await namesIn(folder)).filter((name) => name.startsWith(begunPrefix)).map((name) => join(folder, name))

/** Those of all processes. `folder`: of what commands of one of them said. */
export const recordsBeside = async (folder: string): Promise<ReadonlyArray<string>> => {
  const hosts = dirname(dirname(folder))
  const found = (await namesIn(hosts)).map((host) => recordsIn(join(hosts, host, basename(folder))))
  return (await Promise.all(found)).flat()
}
