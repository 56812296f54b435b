/**
 * Which process runs the server of a directory. It holds a kernel lock, taken by SQLite on `owner.lock`, which ends with
 * the process however that dies. A process id in a file could be reused by another process; a lock cannot.
 */
import { existsSync } from "node:fs"
import { chmod } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Effect, Option, Schedule, Schema } from "effect"
import { describeEndpoint, Endpoint, readEndpoint } from "./Endpoint.ts"
import { checkFormat, DiskFull, directoryError, onDisk, paths, prepareDirectory } from "./StateDirectory.ts"

/** Another live process runs the server of this directory; with its endpoint when the server is ready. */
export class AlreadyOwned extends Schema.TaggedError<AlreadyOwned>()("AlreadyOwned", {
  directory: Schema.String,
  endpoint: Schema.Option(Endpoint)
}) {
  override get message() {
    const where = Option.match(this.endpoint, { onNone: () => "", onSome: (it) => ` at ${describeEndpoint(it)}` })
    return `Another Reprise runs in ${this.directory}${where}. Use that one ('reprise gate', 'reprise status'), or stop it first.`
  }
}

export class NoOwner extends Schema.TaggedError<NoOwner>()("NoOwner", { directory: Schema.String }) {
  override get message() {
    return `No Reprise is running in ${this.directory}. Start one with 'reprise run' or 'reprise up', or name a server with --nats.`
  }
}

export class OwnerNotReady extends Schema.TaggedError<OwnerNotReady>()("OwnerNotReady", { directory: Schema.String }) {
  override get message() {
    return `The Reprise that runs in ${this.directory} has not opened its server yet. Try again, or look at its output.`
  }
}

/** SQLite's result codes; an extended code carries one of them in its low byte. */
const sqliteBusy = 5
const sqliteFull = 13

const sqliteCode = (thrown: unknown): number | undefined =>
  thrown instanceof Error && "errcode" in thrown && typeof thrown.errcode === "number"
    ? thrown.errcode & 0xff
    : undefined

const lockError = (directory: string, thrown: unknown) =>
  sqliteCode(thrown) === sqliteFull ? new DiskFull({ directory }) : directoryError(directory, thrown)

/** Opens the lock file and runs one statement; the lock lasts until the database is closed. */
const locked = (file: string, statement: string, options: { readonly readOnly: boolean }): DatabaseSync => {
  const database = new DatabaseSync(file, { ...options, timeout: 0 })
  try {
    database.exec(statement)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const takeLock = (directory: string, file: string) =>
  Effect.try({
    try: () => locked(file, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", { readOnly: false }),
    catch: (thrown) =>
      sqliteCode(thrown) === sqliteBusy
        ? new AlreadyOwned({ directory, endpoint: Option.none() })
        : lockError(directory, thrown)
  })

/** A process that only checks a lock holds it for an instant, so a taken lock is tried again. */
const retryTaken = <A, E extends { readonly _tag: string }, R>(take: Effect.Effect<A, E, R>) =>
  Effect.retry(take, {
    while: (error) => error._tag === "AlreadyOwned",
    times: 3,
    schedule: Schedule.spaced("10 millis")
  })

/**
 * Takes the directory for this process until the scope closes, and creates it if necessary. Fails at once with
 * `AlreadyOwned` when another live process owns it.
 */
export const acquireOwnership = Effect.fn("acquireOwnership")(function* (directory: string) {
  yield* prepareDirectory(directory)
  yield* Effect.acquireRelease(takeLock(directory, paths(directory).lock), (lock) =>
    Effect.sync(() => lock.close())
  ).pipe(
    retryTaken,
    Effect.catchTag("AlreadyOwned", () =>
      Effect.flatMap(readEndpoint(directory), (endpoint) => new AlreadyOwned({ directory, endpoint }))
    )
  )
  yield* onDisk(directory, () => chmod(paths(directory).lock, 0o600))
})

/** Whether a live process holds this lock of the directory (`<name>.lock`). */
export const isLocked = (directory: string, name: string) =>
  Effect.try({
    try: () => {
      const file = join(directory, `${name}.lock`)
      if (!existsSync(file)) return false
      try {
        locked(file, "SELECT count(*) FROM sqlite_schema", { readOnly: true }).close()
        return false
      } catch (error) {
        if (sqliteCode(error) === sqliteBusy) return true
        throw error
      }
    },
    catch: (thrown) => lockError(directory, thrown)
  })

/** Whether a live process runs the server of the directory. */
export const hasOwner = (directory: string) => isLocked(directory, "owner")

/**
 * The endpoint of the Reprise that runs in this directory, for a process that wants to be its client. Waits up to ten
 * seconds while it is starting. Fails with `NoOwner` when none runs; a file that a killed process left does not count.
 *
 * @example Nats.layer(connectionTo(yield* attach(join(root, ".reprise")), { name: "cli" }))
 */
export const attach = Effect.fn("attach")(function* (directory: string) {
  yield* checkFormat(directory)
  return yield* Effect.gen(function* () {
    if (!(yield* hasOwner(directory))) return yield* new NoOwner({ directory })
    const endpoint = yield* readEndpoint(directory)
    return Option.isSome(endpoint) ? endpoint.value : yield* new OwnerNotReady({ directory })
  }).pipe(
    Effect.retry({
      while: (error) => error._tag === "OwnerNotReady",
      schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))
    })
  )
})

/** Takes the lock `<name>.lock` of the directory until the scope closes. Returns false when a live process holds it. */
export const tryLock = Effect.fn("tryLock")(function* (directory: string, name: string) {
  yield* prepareDirectory(directory)
  const lock = takeLock(directory, join(directory, `${name}.lock`))
  return yield* Effect.acquireRelease(lock, (held) => Effect.sync(() => held.close())).pipe(
    retryTaken,
    Effect.as(true),
    Effect.catchTag("AlreadyOwned", () => Effect.succeed(false))
  )
})
