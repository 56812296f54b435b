/**
 * A mark names a process and everything it starts: a variable in the environment, which every descendant inherits.
 * A tool's shell has a process group and session of its own and is adopted by init when its server is killed
 * (measured), so neither group nor parent finds it. Process ids are reused, marks are not.
 */
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { Effect, Schedule } from "effect"
import { parentOf } from "./identity.ts"

/** `NAME=value`. */
export type Mark = `${string}=${string}`

/** The mark as a part of an environment. */
export const variableOf = (mark: Mark): Readonly<Record<string, string>> => {
  const at = mark.indexOf("=")
  return { [mark.slice(0, at)]: mark.slice(at + 1) }
}

/** A mark for a single start, so that a late guard does not end what the next owner started. */
export const newMark = (): Mark => `REPRISE_GUARDED=${randomBytes(12).toString("hex")}`

const environmentOf = (pid: string): Promise<ReadonlyArray<string>> =>
  // The process may have ended meanwhile, or belong to another user.
  readFile(`/proc/${pid}/environ`, "utf8").then(
    (text) => text.split("\0"),
    () => []
  )

/** This process and its ancestors. An agent's tool may have started us, so they can carry the mark too. */
const ownAncestry = async (): Promise<ReadonlySet<number>> => {
  const line = new Set<number>()
  for (let pid = process.pid; pid > 0 && !line.has(pid); pid = await parentOf(pid)) line.add(pid)
  return line
}

const markedInProc = async (mark: Mark): Promise<ReadonlyArray<number>> => {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const ours = await ownAncestry()
  const marked = await Promise.all(
    pids.map(async (pid) => ((await environmentOf(pid)).includes(mark) ? [Number(pid)] : []))
  )
  return marked.flat().filter((pid) => !ours.has(pid))
}

/** Finds a mark in the output of `ps -axEww -o pid=,command=`, whose lines end in the process's environment. */
export const markedInListing = (mark: Mark, listing: string): ReadonlyArray<number> =>
  listing.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s(.*)$/s.exec(line)
    const found = ` ${match?.[2] ?? ""} `.includes(` ${mark} `)
    return found && Number(match?.[1]) !== process.pid ? [Number(match?.[1])] : []
  })

const listing = (): Promise<string> =>
  new Promise((resolve) => {
    execFile("ps", ["-axEww", "-o", "pid=,command="], { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) =>
      resolve(stdout)
    )
  })

/** The ids of the processes that carry the mark, except this process and its ancestors. */
export const markedProcesses = (mark: Mark): Effect.Effect<ReadonlyArray<number>> =>
  Effect.promise(() =>
    process.platform === "linux" ? markedInProc(mark) : listing().then((text) => markedInListing(mark, text))
  )

const signal = (pids: ReadonlyArray<number>, name: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended meanwhile.
    }
  }
}

/**
 * Ends the processes that carry the mark: SIGTERM first, SIGKILL after two seconds. Returns how many there were, when
 * the last of them is gone.
 */
export const endLeftovers = Effect.fn("endLeftovers")(function* (mark: Mark) {
  const found = yield* markedProcesses(mark)
  if (found.length === 0) return 0
  yield* Effect.logInfo(`Ending processes that an earlier owner left behind (${found.join(", ")}).`)
  signal(found, "SIGTERM")
  const untilGone = (name: NodeJS.Signals | undefined) =>
    markedProcesses(mark).pipe(
      Effect.tap((left) => Effect.sync(() => (name === undefined ? undefined : signal(left, name)))),
      Effect.repeat({ until: (left) => left.length === 0, schedule: Schedule.spaced("50 millis") })
    )
  yield* untilGone(undefined).pipe(Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => untilGone("SIGKILL") }))
  return found.length
})
