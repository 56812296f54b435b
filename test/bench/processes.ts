/** Processor time and memory of a process and its descendants, as the kernel counts them. */
import { readdirSync, readFileSync } from "node:fs"

/** The kernel's clock ticks per second, the same on every Linux that Node runs on. */
const ticksPerSecond = 100

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** Fields of `/proc/PID/stat` after the name, which may contain blanks. */
const stat = (pid: number): ReadonlyArray<string> =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ")

/** This process and all of its descendants. */
export const family = (pid: number): ReadonlyArray<number> => {
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger)
  const children = (parent: number): ReadonlyArray<number> =>
    all.filter((one) => Number(stat(one)[1]) === parent).flatMap((child) => [child, ...children(child)])
  return [pid, ...children(pid)]
}

export interface Taken {
  readonly name: string
  /** Since the process started. */
  readonly cpuSeconds: number
  /** Resident memory in MiB. */
  readonly memory: number
}

export const taken = (pid: number): Taken => {
  const fields = stat(pid)
  const memory = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? "0"
  return {
    name: read(`/proc/${pid}/comm`).trim(),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    memory: Number(memory) / 1024
  }
}

/** The processor time of the children of a process that have ended and were waited for, with theirs. */
export const endedChildrenSeconds = (pid: number): number => {
  const fields = stat(pid)
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}
