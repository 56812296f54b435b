/**
 * Reading what somebody else may have put there: a repository's author, an agent, a program that an agent ran. A name can
 * be a pipe that never answers, a device that never ends, or a file that grows as fast as it is read. So what was opened
 * counts, not the name, and the size and the time have limits. A thread of the file system that hangs is left behind.
 */
import { constants, type Dirent, type Stats } from "node:fs"
import { type FileHandle, lstat, open, opendir, realpath, stat } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import { hasCode } from "./files.ts"

export interface ForeignLimits {
  /** Of the content; a file with more is refused. */
  readonly largestBytes: number
  /** Whether a link of the file's own name is followed; those of the folders above it are. Default: yes. */
  readonly follow?: boolean
  /**
   * A folder below which no link is followed, and no second name of a file is read: for what a command can write and
   * somebody is shown. A link could lead to what the command itself cannot read.
   */
  readonly below?: string
  /** Of everything together. Default: ten seconds. */
  readonly timeoutMs?: number
  /** Looks at the open file before it is read; what it throws, the promise is rejected with. */
  readonly check?: (file: FileHandle) => Promise<void>
}

const nextSteps: Readonly<Record<string, string>> = {
  ENOTAFILE: "Put a regular file there, or remove it.",
  ENOTDIR: "Put a folder there, or remove it.",
  EFBIG: "Make it smaller, or remove it.",
  ETOOMANY: "Remove what does not belong there.",
  ELOOP: "Put a regular file there, or remove it.",
  ELEASED: "End that process.",
  ETIMEDOUT: "Look whether the disk that it is on answers.",
  EACCES: "Change its permissions.",
  EPERM: "Change its permissions."
}

/**
 * A file or a folder of somebody else's that is not read. `code`: `ENOTAFILE`, no regular file; `EFBIG`, larger than
 * allowed; `ETOOMANY`, more entries than allowed; `ELOOP`, a link that is not followed, a second name, or links in a circle;
 * `ENOTDIR`, no folder where one is listed; `ETIMEDOUT`, not read in time; else Node's own.
 */
export class ForeignFileRefused extends Error {
  override readonly name = "ForeignFileRefused"
  readonly code: string
  readonly path: string
  /** The predicate of a sentence: `is a named pipe`. */
  readonly what: string
  constructor(path: string, code: string, what: string, cause?: unknown) {
    super(`${path} ${what}. ${nextSteps[code] ?? "Look at it, and at the disk that it is on."}`, { cause })
    this.code = code
    this.path = path
    this.what = what
  }
}

/** What is there instead of a regular file, as the predicate of a sentence. */
export const kindOf = (found: Pick<Stats, "isDirectory" | "isFIFO" | "isSocket" | "isSymbolicLink">): string => {
  if (found.isDirectory()) return "is a directory"
  if (found.isFIFO()) return "is a named pipe"
  if (found.isSocket()) return "is a socket"
  return found.isSymbolicLink() ? "is a link" : "is a device"
}

const requireFile = (found: Stats, path: string): void => {
  if (found.isFile()) return
  const code = found.isSymbolicLink() ? "ELOOP" : "ENOTAFILE"
  throw new ForeignFileRefused(path, code, kindOf(found))
}

const tooLarge = (path: string, largestBytes: number) =>
  new ForeignFileRefused(path, "EFBIG", `has more than ${largestBytes} bytes`)

const whatFailed = (code: string): string => {
  if (code === "ELOOP") return "is a link to itself"
  if (code === "ENOTDIR") return "is not a directory"
  return code === "EACCES" || code === "EPERM" ? "may not be read by this user" : `cannot be read (${code})`
}

/** Errors of Node's as ours; those of a `check` as they are. */
const refusal = (path: string, error: unknown): unknown => {
  if (!(error instanceof Error && "syscall" in error && "code" in error)) return error
  const code = String(error.code)
  return new ForeignFileRefused(path, code, whatFailed(code), error)
}

const within = async <A>(path: string, timeoutMs: number, run: (isLate: () => boolean) => Promise<A>): Promise<A> => {
  let late = false
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late = true
      reject(new ForeignFileRefused(path, "ETIMEDOUT", `was not read within ${timeoutMs} ms`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([run(() => late), deadline])
  } catch (error) {
    throw refusal(path, error)
  } finally {
    clearTimeout(timer)
  }
}

const absent = (error: unknown) =>
  hasCode(error, "ENOENT", "ENOTDIR", "ENAMETOOLONG") ? undefined : Promise.reject(error)

const reachedByLink = (path: string) => new ForeignFileRefused(path, "ELOOP", "is reached by a link")

/** What was opened lies where its path says, and nowhere else. Only Linux can say where an open file is. */
const requireBelow = async (file: FileHandle, path: string, below: string): Promise<void> => {
  const inside = relative(resolve(below), resolve(path))
  if (isAbsolute(inside) || inside.split(sep)[0] === "..") throw reachedByLink(path)
  const real = await realpath(process.platform === "linux" ? `/proc/self/fd/${file.fd}` : path)
  if (real !== join(await realpath(below), inside)) throw reachedByLink(path)
  if ((await file.stat()).nlink > 1) throw new ForeignFileRefused(path, "ELOOP", "has a second name")
}

type HowToOpen = Pick<ForeignLimits, "below" | "follow">

/** Opening a device can already have an effect, so the name is looked at first; what was opened is what counts. */
const openRegular = async (path: string | Buffer, how: HowToOpen, access = constants.O_RDONLY) => {
  const { below } = how
  const follow = how.follow !== false && below === undefined
  requireFile(await (follow ? stat(path) : lstat(path)), String(path))
  const flags = access | constants.O_NONBLOCK | constants.O_NOCTTY
  const file = await open(path, follow ? flags : flags | constants.O_NOFOLLOW)
  try {
    const found = await file.stat()
    requireFile(found, String(path))
    if (below !== undefined) await requireBelow(file, String(path), below)
    return { file, size: found.size }
  } catch (error) {
    await file.close()
    throw error
  }
}

const mostChunkBytes = 1024 * 1024

type Opened = Awaited<ReturnType<typeof openRegular>>

/** Where a file grows meanwhile, what was added is read too, up to the limit. */
const contentOf = async ({ file, size }: Opened, path: string, largestBytes: number, isLate: () => boolean) => {
  if (size > largestBytes) throw tooLarge(path, largestBytes)
  const chunks: Array<Buffer> = []
  let total = 0
  while (!isLate()) {
    const wanted = Math.min(largestBytes + 1 - total, Math.max(size - total, 0) + 4096, mostChunkBytes)
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, total)
    if (bytesRead === 0) break
    total += bytesRead
    if (total > largestBytes) throw tooLarge(path, largestBytes)
    chunks.push(buffer.subarray(0, bytesRead))
  }
  return Buffer.concat(chunks, total)
}

const defaultTimeoutMs = 10_000

/**
 * The content of a regular file; undefined when there is none, nor where a link leads. Rejected with `ForeignFileRefused`. `path`:
 * bytes, where it is not text.
 *
 * @example const manifest = await readForeignFile(join(root, "package.json"), { largestBytes: 1024 * 1024 })
 */
export const readForeignFile = (
  path: string | Buffer,
  { check, largestBytes, timeoutMs = defaultTimeoutMs, ...how }: ForeignLimits
): Promise<Buffer | undefined> =>
  within(String(path), timeoutMs, async (isLate) => {
    const opened = await openRegular(path, how).catch(absent)
    if (opened === undefined) return undefined
    try {
      await check?.(opened.file)
      return await contentOf(opened, String(path), largestBytes, isLate)
    } finally {
      await opened.file.close()
    }
  })

/** The same as UTF-8. */
export const readForeignText = async (path: string | Buffer, limits: ForeignLimits): Promise<string | undefined> =>
  (await readForeignFile(path, limits))?.toString("utf8")

type PartLimits = Omit<ForeignLimits, "check">

interface Part {
  readonly bytes: Buffer
  /** Of the whole file. */
  readonly size: number
}

const readPart = (
  path: string,
  offsetIn: (size: number) => number,
  { largestBytes, timeoutMs = defaultTimeoutMs, ...how }: PartLimits
): Promise<Part | undefined> =>
  within(path, timeoutMs, async () => {
    const opened = await openRegular(path, how).catch(absent)
    if (opened === undefined) return undefined
    const { file, size } = opened
    const offset = offsetIn(size)
    try {
      const wanted = Math.max(0, Math.min(size - offset, largestBytes))
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, offset)
      return { bytes: buffer.subarray(0, bytesRead), size }
    } finally {
      await file.close()
    }
  })

/**
 * What a regular file had from `offset` on when it was opened, at most `largestBytes` of it, and its size then: so a file
 * that grows is read part by part. Undefined when there is none. Rejected with `ForeignFileRefused`.
 */
export const readForeignPart = (path: string, offset: number, limits: PartLimits): Promise<Part | undefined> =>
  readPart(path, () => offset, limits)

/**
 * The last `largestBytes` of a text file, or all of it, and how many bytes stand before; undefined when there is none.
 * Rejected with `ForeignFileRefused`.
 */
export const readForeignEnd = async (
  path: string,
  limits: PartLimits
): Promise<{ readonly text: string; readonly omitted: number } | undefined> => {
  const part = await readPart(path, (size) => Math.max(0, size - limits.largestBytes), limits)
  return part && { text: part.bytes.toString("utf8"), omitted: part.size - part.bytes.length }
}

/**
 * Changes the text of a regular file where it is, and only if `change` gives another one for what it says. A link of its
 * name is not followed. Rejected with `ForeignFileRefused`, also when there is none.
 */
export const rewriteForeignFile = (
  path: string,
  { largestBytes, timeoutMs = defaultTimeoutMs }: Pick<ForeignLimits, "largestBytes" | "timeoutMs">,
  change: (found: string) => string | undefined
): Promise<void> =>
  within(path, timeoutMs, async (isLate) => {
    const opened = await openRegular(path, { follow: false }, constants.O_RDWR)
    try {
      const changed = change((await contentOf(opened, path, largestBytes, isLate)).toString("utf8"))
      if (changed === undefined || isLate()) return
      await opened.file.truncate(0)
      await opened.file.write(changed, 0)
    } finally {
      await opened.file.close()
    }
  })

export interface FolderLimits {
  /** A folder with more entries is refused. */
  readonly mostEntries: number
  /** Default: ten seconds. */
  readonly timeoutMs?: number
}

/**
 * The entries of a folder, in no order; undefined when there is nothing at the path. Rejected with `ForeignFileRefused`,
 * also (`ENOTDIR`) where there is something else.
 */
export const readForeignFolder = (
  path: string,
  { mostEntries, timeoutMs = defaultTimeoutMs }: FolderLimits
): Promise<ReadonlyArray<Dirent> | undefined> =>
  within(path, timeoutMs, async (isLate) => {
    const folder = await opendir(path, { bufferSize: 256 }).catch((error) =>
      hasCode(error, "ENOENT", "ENAMETOOLONG") ? undefined : Promise.reject(error)
    )
    if (folder === undefined) return undefined
    const entries: Array<Dirent> = []
    // Leaving the loop closes the folder.
    for await (const entry of folder) {
      if (isLate()) break
      if (entries.length >= mostEntries) {
        throw new ForeignFileRefused(path, "ETOOMANY", `has more than ${mostEntries} entries`)
      }
      entries.push(entry)
    }
    return entries
  })
