/** Owns a shell with a child in a session of its own, until it is killed. Arguments: how it is guarded, mark, directory. */
import { join } from "node:path"
import { Effect } from "effect"
import { startGuarded, startPiped } from "../src/index.ts"
import { variableOf } from "../src/Mark.ts"

const [kind, mark = "", directory = ""] = process.argv.slice(2)
const environment = { PATH: process.env["PATH"] ?? "", ...variableOf(mark as `${string}=${string}`) }
const log = join(directory, "log")
const options = {
  program: "/bin/sh",
  args: ["-c", `setsid sleep 3600 & echo started >>${log}; sleep 3600`],
  environment,
  directory
}
if (kind === "piped") startPiped(options)
else Effect.runFork(startGuarded({ ...options, log }))
setInterval(() => undefined, 60_000)
