/** Tells a process from a later one with the same id. */
import { readFile } from "node:fs/promises"

/** In clock ticks since the machine's start; "" where it cannot be told, "dead" for what only waits to be reaped. */
export const startOf = (pid: number): Promise<string> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (text) => {
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
      return fields[0] === "Z" || fields[0] === "X" ? "dead" : (fields[19] ?? "")
    },
    () => ""
  )

/** Whether a process of this id runs, whoever's. */
export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}
