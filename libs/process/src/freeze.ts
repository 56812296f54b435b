/**
 * Stops everything that a program runs in a sandbox, so that nothing there changes a file until it goes on. Processes of a
 * sandbox have a process namespace of their own, in which the first process adopts those that are left: none leaves the tree
 * below the program. Linux alone.
 */
import { readdir, readFile } from "node:fs/promises"
import { setTimeout } from "node:timers/promises"

interface Status {
  readonly pid: number
  readonly parent: number
  /** One letter. */
  readonly state: string
  /** How many namespaces know the process: more than this process has, in a sandbox. */
  readonly depth: number
}

/** The words of a line of `/proc/<pid>/status`. */
const wordsAfter = (text: string, name: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .find((line) => line.startsWith(`${name}:\t`))
    ?.slice(name.length + 2)
    .split(/[\t ]/) ?? []

const statusOf = async (pid: string): Promise<ReadonlyArray<Status>> => {
  // It may have ended meanwhile.
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined)
  if (text === undefined) return []
  const [state = ""] = wordsAfter(text, "State")
  const [parent = "0"] = wordsAfter(text, "PPid")
  return [{ pid: Number(pid), parent: Number(parent), state, depth: wordsAfter(text, "NSpid").length }]
}

/** Parents before their children. */
const enclosedBelow = async (program: number): Promise<ReadonlyArray<Status>> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const all = (await Promise.all(pids.map(statusOf))).flat()
  const children = Map.groupBy(all, ({ parent }) => parent)
  const below: Array<Status> = [...(children.get(program) ?? [])]
  for (const one of below) below.push(...(children.get(one.pid) ?? []))
  const own = all.find(({ pid }) => pid === process.pid)?.depth ?? 1
  return below.filter(({ depth }) => depth > own)
}

const signal = (pid: number, name: "SIGSTOP" | "SIGCONT") => {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile, or cannot be stopped, which its state shows.
  }
}

/** A process whose first thread has ended looks like a dead one, and has been stopped all the same. */
const isStopped = ({ state }: Status): boolean => ["T", "t", "Z", "X"].includes(state)

const mostRounds = 50
const roundMs = 10

/** `program`: the process that began the sandbox. Gives whether all is stopped. */
export const freezeBelow = async (program: number): Promise<boolean> => {
  const signalled = new Set<number>()
  let clean = 0
  for (let round = 0; round < mostRounds && clean < 2; round++) {
    if (round > 0) await setTimeout(roundMs)
    const found = await enclosedBelow(program)
    // Of those that go on one may let another one go on.
    clean = found.every((one) => isStopped(one) && signalled.has(one.pid)) ? clean + 1 : 0
    for (const { pid } of found) {
      signal(pid, "SIGSTOP")
      signalled.add(pid)
    }
  }
  return clean === 2
}

/** Children first: their parents do not learn that they were stopped. */
export const thawBelow = async (program: number): Promise<void> => {
  for (const { pid } of (await enclosedBelow(program)).toReversed()) signal(pid, "SIGCONT")
}
