/** Processes that outlived their owner, found by the mark that they carry. */
import { execFile } from "node:child_process"
import { readdir, readFile } from "node:fs/promises"
import { Effect, Schedule } from "effect"
import type { Mark } from "./Mark.ts"

const environmentOf = (pid: string): Promise<ReadonlyArray<string>> =>
  // A process may end while it is looked at, or belong to somebody else.
  readFile(`/proc/${pid}/environ`, "utf8").then(
    (text) => text.split("\0"),
    () => []
  )

const parentOf = (pid: number): Promise<number> =>
  readFile(`/proc/${pid}/stat`, "utf8").then(
    (text) => Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]),
    () => 0
  )

/** This process and those it descends from: an agent's tool may well run us. */
const ourLine = async (): Promise<ReadonlySet<number>> => {
  const line = new Set<number>()
  for (let pid = process.pid; pid > 0 && !line.has(pid); pid = await parentOf(pid)) line.add(pid)
  return line
}

const markedInProc = async (mark: Mark): Promise<ReadonlyArray<number>> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const ours = await ourLine()
  const marked = await Promise.all(
    pids.map(async (pid) => ((await environmentOf(pid)).includes(mark) ? [Number(pid)] : []))
  )
  return marked.flat().filter((pid) => !ours.has(pid))
}

/** Lines of `ps -axEww -o pid=,command=`, which ends in the process's environment. */
export const markedInListing = (mark: Mark, listing: string): ReadonlyArray<number> =>
  listing.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s(.*)$/.exec(line)
    const found = ` ${match?.[2] ?? ""} `.includes(` ${mark} `)
    return found && Number(match?.[1]) !== process.pid ? [Number(match?.[1])] : []
  })

const listing = (): Promise<string> =>
  new Promise((resolve) => {
    execFile("ps", ["-axEww", "-o", "pid=,command="], { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) =>
      resolve(stdout)
    )
  })

/** The processes that carry the mark, without us. */
export const markedProcesses = (mark: Mark): Effect.Effect<ReadonlyArray<number>> =>
  Effect.promise(() =>
    process.platform === "linux" ? markedInProc(mark) : listing().then((text) => markedInListing(mark, text))
  )

const signal = (pids: ReadonlyArray<number>, name: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended by itself in between.
    }
  }
}

/** Asks all that carry the mark to end, kills what does not within two seconds, and gives how many there were. */
export const endLeftovers = Effect.fn("endLeftovers")(function* (mark: Mark) {
  const found = yield* markedProcesses(mark)
  if (found.length === 0) return 0
  yield* Effect.logInfo(`Ending what an earlier owner left behind (process ${found.join(", ")}).`)
  signal(found, "SIGTERM")
  const untilGone = (name: NodeJS.Signals | undefined) =>
    markedProcesses(mark).pipe(
      Effect.tap((left) => Effect.sync(() => (name === undefined ? undefined : signal(left, name)))),
      Effect.repeat({ until: (left) => left.length === 0, schedule: Schedule.spaced("50 millis") })
    )
  yield* untilGone(undefined).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => untilGone("SIGKILL") }))
  return found.length
})
