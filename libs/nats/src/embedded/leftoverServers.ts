/**
 * Servers that outlived their owner: the guard was killed with it, or they are still stopping. A server is known as ours
 * by its command line, which names our configuration, never by a stored process id.
 */
import { readdir, readFile } from "node:fs/promises"
import { Effect, Schedule } from "effect"
import { runCommand } from "../locate/runCommand.ts"

/** Whether an argument vector is that of a server started with this configuration (guard: script). */
export const isServerOf = (config: string, argv: ReadonlyArray<string>): boolean =>
  argv.length === 3 && argv[1] === "-c" && argv[2] === config

const fromProc = async (config: string): Promise<ReadonlyArray<number>> => {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    processes.map(async (pid) => {
      // A process may end while it is looked at.
      const argv = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")
      return isServerOf(config, argv.split("\0").slice(0, -1)) ? [Number(pid)] : []
    })
  )
  return found.flat()
}

/** Lines of `ps -axo pid=,command=`; arguments are not separated there, so the end of the line has to do. */
export const serversInListing = (config: string, listing: string): ReadonlyArray<number> =>
  listing.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\S.*)$/.exec(line)
    const command = match?.[2] ?? ""
    return command.endsWith(` -c ${config}`) && command.includes("nats-server") ? [Number(match?.[1])] : []
  })

const findServers = (config: string): Effect.Effect<ReadonlyArray<number>> =>
  process.platform === "linux"
    ? Effect.promise(() => fromProc(config))
    : runCommand("ps", ["-axo", "pid=,command="]).pipe(
        Effect.map((listing) => serversInListing(config, listing)),
        Effect.orElseSucceed((): ReadonlyArray<number> => [])
      )

const signal = (pids: ReadonlyArray<number>, name: NodeJS.Signals) =>
  Effect.sync(() => {
    for (const pid of pids) {
      try {
        process.kill(pid, name)
      } catch {
        // It ended by itself in between.
      }
    }
  })

/** Stops every server that runs with this configuration, and returns when none is left: one store, one server. */
export const stopLeftovers = Effect.fn("stopLeftovers")(function* (config: string) {
  const found = yield* findServers(config)
  if (found.length === 0) return
  yield* Effect.logInfo(`Stopping a server that its owner left behind (process ${found.join(", ")}).`)
  yield* signal(found, "SIGTERM")
  const gone = findServers(config).pipe(
    Effect.repeat({ until: (left) => left.length === 0, schedule: Schedule.spaced("10 millis") })
  )
  yield* gone.pipe(
    Effect.timeoutOrElse({
      duration: "5 seconds",
      orElse: () => Effect.flatMap(findServers(config), (left) => signal(left, "SIGKILL")).pipe(Effect.andThen(gone))
    })
  )
})
