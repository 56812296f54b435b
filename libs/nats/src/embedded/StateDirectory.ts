/** The state directory `.reprise`. Nothing is written outside it. */
import { access, chmod, constants, mkdir, stat, statfs, writeFile } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"
import { readForeignText, replaceFile } from "@reprise/process"
import { Effect, Option, Schema } from "effect"

export const formatVersion = 1

export class DirectoryUnusable extends Schema.TaggedError<DirectoryUnusable>()("DirectoryUnusable", {
  directory: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `Reprise cannot keep its state in ${this.directory} (${this.reason}). Make it writable for you, or use another directory.`
  }
}

export class DiskFull extends Schema.TaggedError<DiskFull>()("DiskFull", { directory: Schema.String }) {
  override get message() {
    return `There is no space left on the disk of ${this.directory}, or your quota is used up. Free some and start again: no data is lost.`
  }
}

export class NewerFormat extends Schema.TaggedError<NewerFormat>()("NewerFormat", {
  directory: Schema.String,
  found: Schema.Int,
  known: Schema.Int
}) {
  override get message() {
    return `${this.directory} was written by a newer Reprise (format ${this.found}, this one knows ${this.known}). Upgrade Reprise, or use another directory.`
  }
}

export type DirectoryError = DirectoryUnusable | DiskFull

/** What people read in place of a code of the file system. */
const reasons: Readonly<Record<string, string>> = {
  EROFS: "its file system is read-only",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  ENOTDIR: "a part of its path is not a folder",
  EEXIST: "a part of its path is not a folder"
}

/** Classifies an error of the file system by its code. */
export const directoryError = (directory: string, thrown: unknown): DirectoryError => {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : ""
  if (code === "ENOSPC" || code === "EDQUOT") return new DiskFull({ directory })
  const reason = reasons[code] ?? (thrown instanceof Error ? thrown.message : String(thrown))
  return new DirectoryUnusable({ directory, reason })
}

export const onDisk = <A>(directory: string, run: () => Promise<A>): Effect.Effect<A, DirectoryError> =>
  Effect.tryPromise({ try: run, catch: (thrown) => directoryError(directory, thrown) })

export const paths = (directory: string) => ({
  version: join(directory, "version.json"),
  endpoint: join(directory, "endpoint.json"),
  lock: join(directory, "owner.lock"),
  ignore: join(directory, ".gitignore"),
  nats: join(directory, "nats"),
  config: join(directory, "nats", "server.conf"),
  log: join(directory, "nats", "server.log")
})

const decodeFormat = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ format: Schema.Int })))

/** Fails when the directory has a newer format. A directory without a format is new. */
export const checkFormat = Effect.fnUntraced(function* (directory: string) {
  const text = yield* onDisk(directory, () =>
    readForeignText(paths(directory).version, { largestBytes: 64 * 1024, follow: false })
  )
  if (text === undefined) return
  const version = decodeFormat(text)
  if (Option.isNone(version)) {
    return yield* new DirectoryUnusable({ directory, reason: "its version.json is damaged" })
  }
  const { format } = version.value
  if (format > formatVersion) return yield* new NewerFormat({ directory, found: format, known: formatVersion })
})

const createDirectories = async (directory: string): Promise<void> => {
  await mkdir(dirname(directory), { recursive: true })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const found = await stat(directory)
  if (process.getuid !== undefined && found.uid !== process.getuid()) throw new Error("it belongs to another user")
  if ((found.mode & 0o077) !== 0) await chmod(directory, 0o700)
  await mkdir(paths(directory).nats, { recursive: true, mode: 0o700 })
  // An existing one may be on a file system that has become read-only.
  for (const folder of [directory, paths(directory).nats]) {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  }
}

const writeUnlessPresent = (path: string, text: string) =>
  writeFile(path, text, { flag: "wx", mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error
  })

/** Creates the directory for this user alone, or checks that the existing one is usable. Idempotent. */
export const prepareDirectory = Effect.fn("prepareDirectory")(function* (directory: string) {
  if (!isAbsolute(directory)) {
    return yield* new DirectoryUnusable({ directory, reason: "its path is not absolute" })
  }
  yield* onDisk(directory, () => createDirectories(directory))
  yield* checkFormat(directory)
  yield* onDisk(directory, async () => {
    // The state holds agents' transcripts: it must not end up in a commit of the repository around it.
    await writeUnlessPresent(paths(directory).ignore, "*\n")
    if ((await readForeignText(paths(directory).version, { largestBytes: 64 * 1024, follow: false })) === undefined) {
      await replaceFile(paths(directory).version, `${JSON.stringify({ format: formatVersion })}\n`)
    }
  })
})

/** With less, the server can store hardly a message, or does not even start. */
const leastFreeBytes = 64 * 1024

/** Fails with `DiskFull` when the directory's disk has no room for a server. */
export const requireRoom = Effect.fnUntraced(function* (directory: string) {
  if ((yield* freeBytes(directory)) < leastFreeBytes) return yield* new DiskFull({ directory })
})

/** Free bytes for this user on the directory's disk. */
export const freeBytes = (directory: string): Effect.Effect<number, DirectoryError> =>
  onDisk(directory, async () => {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  })
