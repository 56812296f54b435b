/**
 * What is put aside outside of the programs that run commands: what a command made that may not be made, or may have changed, if
 * it was killed before its program looked.
 */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { readForeignText } from "@reprise/process"
import { Effect } from "effect"
import { isRunning } from "../command/killedCommands.ts"
import { namesIn, readRecord, recordsIn } from "../command/records.ts"
import { exists, linkAbove } from "../disk/pathsOnDisk.ts"
import { putAside } from "../disk/putAside.ts"
import { makeTurns } from "../nested/turns.ts"
import { heldIn, putBack, putBackName } from "./heldFiles.ts"
import { type Replaced, settleFolders } from "./heldFolders.ts"

/** Gives what was replaced. */
const endOne = async (record: string, refused: string, whose: "killed" | "all"): Promise<ReadonlyArray<Replaced>> => {
  const running = await isRunning(record)
  if (running && whose === "killed") return []
  const text = await readRecord(record)
  const paths = text.split("\n").filter((path) => path.startsWith("/"))
  for (const path of paths) {
    // A folder above it may be a link by now, which leads to somebody's own files.
    const above = linkAbove(path)
    if (above !== undefined) await putAside(above, refused)
    else if (exists(path)) await putAside(path, refused)
  }
  const replaced: Array<Replaced> = [...(await settleFolders(record, text, refused))]
  for (const file of heldIn(record, text)) {
    if (await putBack(file, refused)) replaced.push({ path: file.path, isBack: true })
  }
  if (!running) await rm(record, { force: true })
  return replaced
}

/** Those that programs of commands put back. Each is told once; they are back, whether this list can be read or not. */
const alreadyBack = async (record: string): Promise<ReadonlyArray<Replaced>> => {
  const text = await readForeignText(record, { largestBytes: 1024 * 1024, follow: false }).catch(() => undefined)
  if (text !== undefined) await rm(record, { force: true })
  return (text ?? "").split("\n").flatMap((path) => (path === "" ? [] : [{ path, isBack: true }]))
}

const putAsideAllLeft = async (sandboxFolder: string, whose: "killed" | "all"): Promise<ReadonlyArray<Replaced>> => {
  const hosts = join(sandboxFolder, "hosts")
  const refused = join(sandboxFolder, "refused")
  const replaced: Array<Replaced> = []
  const failed: Array<unknown> = []
  for (const host of await namesIn(hosts)) {
    const heard = join(hosts, host, "heard")
    replaced.push(...(await alreadyBack(join(heard, putBackName))))
    for (const record of await recordsIn(heard)) {
      // One that cannot be settled keeps no other one.
      const found = await endOne(record, refused, whose).catch((error: unknown) => void failed.push(error))
      replaced.push(...(found ?? []))
    }
  }
  if (failed.length > 0) throw failed[0]
  return replaced
}

/** What another one has settled is not settled again: by then somebody may have made the same honestly. */
const inTurn = makeTurns()

/**
 * Puts aside what killed commands left, of every process that used this folder; `all`: also what commands made that are
 * about to be killed, or run beside. `sandboxFolder`: `.reprise/sandbox`, which this machine made: what stands in it is
 * believed. Gives what somebody replaced meanwhile. Rejected where a record cannot be settled: it stays.
 */
export const putAsideLeft = (
  sandboxFolder: string,
  whose: "killed" | "all" = "killed"
): Promise<ReadonlyArray<Replaced>> =>
  Effect.runPromise(inTurn(sandboxFolder)(Effect.promise(() => putAsideAllLeft(sandboxFolder, whose))))
