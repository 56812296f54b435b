/**
 * The folder of one process's programs, below `.reprise/sandbox/hosts`. Each process has one of its own: when a process was
 * killed, its servers go on for some seconds, and run commands by the programs that they were started with.
 */
import { randomBytes } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { startOf } from "@reprise/process"
import { Effect } from "effect"

/** By then the guard of a killed process has ended its servers. */
const serversEndWithin = "1 minute"

const isOfLiving = async (name: string): Promise<boolean> => {
  const [pid, start] = name.split("-")
  return (await startOf(Number(pid))) === start
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true }).catch(() => undefined)

const removeThoseOfDead = async (hosts: string): Promise<void> => {
  for (const name of await readdir(hosts).catch(() => [])) {
    if (!(await isOfLiving(name))) await remove(join(hosts, name))
  }
}

/** The path of a folder that is nobody else's. It is removed with the scope, and those of dead processes after a minute. */
export const ownFolder = Effect.fnUntraced(function* (sandboxFolder: string, visiting: boolean) {
  const hosts = join(sandboxFolder, "hosts")
  const start = yield* Effect.promise(() => startOf(process.pid))
  const own = join(hosts, `${process.pid}-${start}-${randomBytes(4).toString("hex")}`)
  if (visiting) return own
  yield* Effect.addFinalizer(() => Effect.promise(() => remove(own)))
  yield* Effect.forkScoped(
    Effect.delay(
      Effect.promise(() => removeThoseOfDead(hosts)),
      serversEndWithin
    )
  )
  return own
})
