/**
 * The folder of one process's programs, below `.reprise/sandbox/hosts`. Each process has one of its own: when a process was
 * killed, its servers go on for some seconds, and run commands by the programs that they were started with.
 */
import { randomBytes } from "node:crypto"
import { readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { endLeftovers, type Mark, removeForeign, startOf } from "@reprise/process"
import { Effect } from "effect"
import { putAsideLeft } from "./replaced/leftovers.ts"

/** By then the guard of a killed process has ended its servers. */
const serversEndWithin = "1 minute"

const isOfLiving = async (name: string): Promise<boolean> => {
  const [pid, start] = name.split("-")
  return (await startOf(Number(pid))) === start
}

/** It holds nothing that is needed: what stays only takes room. */
const remove = (folder: string) =>
  Effect.tryPromise(() => removeForeign(folder)).pipe(
    Effect.catch(({ cause }) => Effect.logWarning(`${folder} could not be removed; remove it.`, cause))
  )

/** What records in it tell is gone with it, so it stays where they could not be settled. */
const removeSettled = (sandboxFolder: string, folder: string) =>
  Effect.tryPromise({ try: () => putAsideLeft(sandboxFolder), catch: (cause) => cause }).pipe(
    Effect.matchEffect({
      onFailure: (cause) => Effect.logWarning(`${folder} stays.`, cause),
      onSuccess: () => remove(folder)
    })
  )

/** What programs of the process with this folder are known by. */
export const markOf = (folder: string): Mark => `REPRISE_SANDBOX_HOST=${basename(folder)}`

/** The folders of processes that were killed, and programs of theirs that go on. */
const removeThoseOfDead = Effect.fnUntraced(function* (hosts: string) {
  // Where they cannot be listed, none is removed.
  for (const name of yield* Effect.promise(() => readdir(hosts).catch(() => []))) {
    if (yield* Effect.promise(() => isOfLiving(name))) continue
    yield* endLeftovers(markOf(name))
    yield* removeSettled(dirname(hosts), join(hosts, name))
  }
})

/** The path of a folder that is nobody else's. It is removed with the scope, and those of dead processes after a minute. */
export const ownFolder = Effect.fnUntraced(function* (sandboxFolder: string, visiting: boolean) {
  const hosts = join(sandboxFolder, "hosts")
  const start = yield* Effect.promise(() => startOf(process.pid))
  const own = join(hosts, `${process.pid}-${start}-${randomBytes(4).toString("hex")}`)
  if (visiting) return own
  yield* Effect.addFinalizer(() => removeSettled(sandboxFolder, own))
  yield* Effect.forkScoped(Effect.delay(removeThoseOfDead(hosts), serversEndWithin))
  return own
})
