/**
 * Notices programs of commands that were killed before they could say that their command has ended: by the runtime's patience, by
 * the kernel, by a person. A program writes its record before the command, and removes it when everything has been said.
 */
import { watch } from "node:fs"
import { readlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { isAlive, readForeignText, startOf } from "@reprise/process"
import { Effect, Latch, Schedule } from "effect"
import { begunPrefix, processOf, recordsIn, workspaceOf } from "./records.ts"

export interface KilledCommand {
  readonly record: string
  /** Undefined: the program had not written which one it is. */
  readonly workspace: string | undefined
}

/** Whether the process of a record's program runs; one that only waits to be reaped does not. */
export const isRunning = async (record: string): Promise<boolean> => {
  const pid = processOf(record)
  return isAlive(pid) && (await startOf(pid)) !== "dead"
}

const largestBytes = 64 * 1024

/** Bubblewrap's own words about the first process of the sandbox. Undefined: it did not begin, or the process has gone. */
const firstProcess = async (record: string): Promise<number | undefined> => {
  const words = join(dirname(record), `code-${processOf(record)}`)
  const text = await readForeignText(words, { largestBytes, follow: false }).catch(() => undefined)
  const [, pid] = /"child-pid": (\d+)/.exec(text ?? "") ?? []
  const [, space] = /"pid-namespace": (\d+)/.exec(text ?? "") ?? []
  const now = pid === undefined ? undefined : await readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)
  return now !== undefined && now === `pid:[${space}]` ? Number(pid) : undefined
}

const often = Schedule.spaced("100 millis")

/** As the program does when its command has ended: with the first process the kernel ends all others. */
const endProcesses = (record: string) =>
  Effect.promise(async () => {
    const first = await firstProcess(record)
    if (first === undefined) return true
    try {
      process.kill(first, "SIGKILL")
    } catch {
      // It has ended meanwhile.
    }
    return false
  }).pipe(Effect.repeat({ until: (ended) => ended, schedule: often }))

/**
 * Until the scope closes. `folder`: of what commands said, which exists. `settle` is run once for each killed program, when no process of its
 * command is left, and removes its record.
 */
export const noticeKilledCommands = Effect.fnUntraced(function* (
  folder: string,
  settle: (killed: KilledCommand) => Effect.Effect<void>
) {
  const scope = yield* Effect.scope
  const begun = yield* Latch.make()
  const settled = new Set<string>()
  const watching = Effect.try(() =>
    watch(folder, { persistent: false }, (_, name) => {
      if (name === null || name.startsWith(begunPrefix)) begun.openUnsafe()
    }).on("error", () => undefined)
  )
  const isWatched = yield* Effect.acquireRelease(watching, (watcher) => Effect.sync(() => watcher.close())).pipe(
    Effect.isSuccess
  )

  const settleOne = Effect.fnUntraced(function* (record: string) {
    if (settled.has(record) || (yield* Effect.promise(() => isRunning(record)))) return
    settled.add(record)
    const workspace = yield* Effect.promise(() => workspaceOf(record))
    // What takes long in one workspace keeps no other waiting.
    yield* Effect.forkIn(Effect.andThen(endProcesses(record), settle({ record, workspace })), scope)
  })

  /** Gives whether no command goes on. */
  const look = Effect.gen(function* () {
    const records = yield* Effect.tryPromise(() => recordsIn(folder))
    for (const record of settled) if (!records.includes(record)) settled.delete(record)
    yield* Effect.forEach(records, settleOne, { discard: true })
    return records.every((record) => settled.has(record))
  }).pipe(
    // What cannot be listed now is looked at again.
    Effect.orElseSucceed(() => false)
  )
  // Where the machine gives no more watches, it looks all the time.
  const until = (none: boolean) => none && isWatched
  const lookWhileCommandsRun = Effect.repeat(look, { until, schedule: often })
  yield* begun.open
  yield* Effect.forkIn(
    Effect.forever(begun.await.pipe(Effect.andThen(begun.close), Effect.andThen(lookWhileCommandsRun))),
    scope
  )
})
