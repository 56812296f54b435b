/** Which process an id names: ids are reused, so an id alone does not tell a process from a later one. */
import { readFile } from "node:fs/promises"
import { hasCode } from "./files.ts"

const fieldsIn = (text: string): ReadonlyArray<string> => text.slice(text.lastIndexOf(")") + 2).split(" ")

/** The fields of `/proc/<pid>/stat` after the program's name, which may itself hold blanks; none where there is no such file. */
const statFields = (pid: number): Promise<ReadonlyArray<string>> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(fieldsIn, () => [])

/**
 * When the process was started, in clock ticks since the machine's start: together with the id it names one process.
 * `""` where the system does not tell, `"dead"` for a process that only waits to be reaped.
 */
export const startOf = async (pid: number): Promise<string> => {
  const [state, ...rest] = await statFields(pid)
  return state === "Z" || state === "X" ? "dead" : (rest[18] ?? "")
}

/** Whether it only waits to be reaped (`Z`, `X`), and when it was started, in the text of `/proc/<pid>/stat`. */
export const statusIn = (text: string): { readonly state: string | undefined; readonly start: string | undefined } => {
  const [state, ...rest] = fieldsIn(text)
  return { state, start: rest[18] }
}

/** The process that started it; 0 where the system does not tell. */
export const parentOf = async (pid: number): Promise<number> => Number((await statFields(pid))[1] ?? 0)

/** The kernel's clock ticks in a second, as it tells them to programs. */
const ticksPerSecond = 100

/** How long it has had a processor, with the children that it waited for, in milliseconds; undefined where the system does not tell. */
export const workedMsOf = async (pid: number): Promise<number | undefined> => {
  const times = (await statFields(pid)).slice(11, 15).map(Number)
  return times.length < 4 ? undefined : (times.reduce((sum, ticks) => sum + ticks, 0) * 1000) / ticksPerSecond
}

/** Whether a process with this id runs, whichever user it belongs to. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, "EPERM")
  }
}
