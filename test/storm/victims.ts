/** Finds the processes of one world that a storm may kill, and no others: by their marks, and by what the world started. */
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import { markedProcesses } from "@reprise/process"
import { Effect } from "effect"

/** `host`: the command that runs the broker and the services. `command`: any other command. */
export const victimKinds = ["command", "host", "broker", "opencode", "claude"] as const
export type VictimKind = (typeof victimKinds)[number]

const argumentsOf = (pid: number): ReadonlyArray<string> => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  } catch {
    // It has ended meanwhile.
    return []
  }
}

/** A guard names its program in its arguments too, and a tool carries its agent's mark. */
const programs = {
  broker: {
    mark: "REPRISE_NATS_STATE",
    is: ([program = ""]: ReadonlyArray<string>) => basename(program).startsWith("nats-server")
  },
  opencode: {
    mark: "REPRISE_OPENCODE_STATE",
    is: ([program = "", verb]: ReadonlyArray<string>) => basename(program).includes("opencode") && verb === "serve"
  },
  claude: {
    mark: "REPRISE_CLAUDE_STATE",
    is: (words: ReadonlyArray<string>) => words.slice(0, 2).some((word) => basename(word) === "claude")
  }
} as const

/** Who owns the broker of a state folder, as it says there; undefined while nobody does. */
const ownerOf = (state: string): number | undefined => {
  try {
    return Number(/"ownerPid":(\d+)/.exec(readFileSync(join(state, "endpoint.json"), "utf8"))?.[1])
  } catch {
    return undefined
  }
}

/**
 * The ids of the processes of a kind that run now.
 * @param state the world's `.reprise`
 * @param commands the commands of the world that run now
 */
export const findVictims = (kind: VictimKind, state: string, commands: Iterable<number>) => {
  if (kind === "command" || kind === "host") {
    return Effect.sync(() => {
      const owner = ownerOf(state)
      return [...commands].filter((pid) => (pid === owner) === (kind === "host"))
    })
  }
  const { is, mark } = programs[kind]
  return Effect.map(markedProcesses(`${mark}=${state}`), (pids) => pids.filter((pid) => is(argumentsOf(pid))))
}
