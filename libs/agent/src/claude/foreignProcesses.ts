/**
 * Claude's processes that others run, such as `claude --resume ID` in a terminal. Each writes down in Claude's own
 * directory that it runs, in which session, and whether it is at work.
 */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { isAlive, startOf } from "@reprise/process"
import { Option, Schema } from "effect"

const Registered = Schema.Struct({
  pid: Schema.Int,
  sessionId: Schema.String,
  procStart: Schema.optional(Schema.String),
  status: Schema.optional(Schema.String)
})
const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Registered))

/** A process of the same id may be a later one. */
const isRunning = async ({ pid, procStart }: typeof Registered.Type): Promise<boolean> => {
  if (!isAlive(pid)) return false
  const start = await startOf(pid)
  return start !== "dead" && (start === "" || procStart === undefined || start === procStart)
}

/**
 * What the processes in a session are doing, besides ours.
 * @returns `absent`: none is known to run; `quiet`: one runs, and waits for its human
 */
export const foreignStatus = async (
  registry: string,
  sessionId: string,
  ourPid: number | undefined
): Promise<"absent" | "quiet" | "busy"> => {
  const names = await readdir(registry).catch(() => [])
  let status: "absent" | "quiet" | "busy" = "absent"
  for (const name of names) {
    if (!/^\d+\.json$/.test(name)) continue
    const text = await readFile(join(registry, name), "utf8").catch(() => "")
    const found = Option.getOrUndefined(decode(text))
    if (found === undefined || found.sessionId !== sessionId || found.pid === ourPid) continue
    if (!(await isRunning(found))) continue
    if (found.status !== "idle") return "busy"
    status = "quiet"
  }
  return status
}
