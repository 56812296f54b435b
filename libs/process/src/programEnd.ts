/** Why a program gave no answer, and whether it would give one at the next try. Pure. */

/**
 * `timeout`: it waited for something else than a processor. `busy`: it worked all the time. `memory`, `output`: it wanted more
 * than allowed. `crash`: it ended itself by a signal. `signal`: another process ended it, as a terminal's Ctrl-C does. `blocked`:
 * it waited for a file that never answers. `not-found`, `fault`: it could not be started.
 */
export const reasons = [
  ...(["not-found", "fault", "timeout", "signal"] as const),
  ...(["busy", "memory", "output", "crash", "blocked"] as const)
] as const
export type Reason = (typeof reasons)[number]

export type Ending =
  | { readonly _tag: "Exit"; readonly exitCode: number; readonly stderr: string; readonly hasMemoryLimit: boolean }
  | { readonly _tag: "Signal"; readonly signal: NodeJS.Signals }
  /** `workedMs`: how long it had a processor; undefined: the system does not tell. */
  | { readonly _tag: "Late"; readonly timeoutMs: number; readonly workedMs: number | undefined }

/** A program sends itself these. The system's own SIGKILL, when the machine has no memory left, is not one of them. */
const ofCrashes: ReadonlySet<NodeJS.Signals> = new Set([
  ...(["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP", "SIGXFSZ"] as const)
])

/** As the C library and git say it. */
const wantedMemory = /out of memory|cannot allocate memory/i

/** What a shell exits with when it cannot start the program that it is to become. */
const notFound = 127
const notStarted = 126

/** On a machine with more to do than it can, and with a slow disk, a program that never waits still works this part of the time. */
const leastShare = 1 / 10

/** Undefined: it got to its end, and its exit code is the answer. */
export const reasonOf = (ending: Ending): Reason | undefined => {
  switch (ending._tag) {
    case "Exit":
      if (!ending.hasMemoryLimit || ending.exitCode === 0) return undefined
      if (ending.exitCode === notFound) return "not-found"
      if (ending.exitCode === notStarted) return "fault"
      return wantedMemory.test(ending.stderr) ? "memory" : undefined
    case "Signal":
      return ofCrashes.has(ending.signal) ? "crash" : "signal"
    case "Late":
      return (ending.workedMs ?? 0) >= ending.timeoutMs * leastShare ? "busy" : "timeout"
  }
}

const whose: Readonly<Record<Reason, "tree" | "host">> = {
  "not-found": "host",
  fault: "host",
  timeout: "host",
  signal: "host",
  busy: "tree",
  memory: "tree",
  output: "tree",
  crash: "tree",
  blocked: "tree"
}

/**
 * Whose it is that git gave no answer. `tree`: what git was asked about, so that every try ends like this one and only whoever
 * wrote it can fix it. `host`: another try may succeed.
 */
export const faultOf = (reason: Reason): "tree" | "host" => whose[reason]
