/** A growing transcript: entries are kept in memory, and each refresh reads only what was appended. */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { ForeignFileRefused, readForeignFolder, readForeignPart, readForeignText } from "@reprise/process"
import { Option } from "effect"
import { type Entry, entryOf, readLine } from "./transcript.ts"

const chunkBytes = 1024 * 1024

/** No conversation has so much, and no message. */
const largestBytes = 1024 * 1024 * 1024
const longestLineBytes = 64 * 1024 * 1024

/** As a whole it becomes one text. */
const largestTextBytes = 256 * 1024 * 1024

/** More are nobody's projects, or subagents. */
const mostEntries = 100_000

export class TranscriptFile {
  readonly path: string
  readonly #entries: Array<Entry> = []
  #offset = 0
  #rest: Buffer = Buffer.alloc(0)
  #reading: Promise<boolean> = Promise.resolve(false)

  constructor(path: string) {
    this.path = path
  }

  get entries(): ReadonlyArray<Entry> {
    return this.#entries
  }

  /** Reads appended lines. Returns false when there is no file. Concurrent calls queue, so no line is read twice. */
  refresh(): Promise<boolean> {
    const read = () => this.#read()
    this.#reading = this.#reading.then(read, read)
    return this.#reading
  }

  /** The whole file; empty when there is none. Rejected with `ForeignFileRefused`. */
  async text(): Promise<string> {
    return (await readForeignText(this.path, { largestBytes: largestTextBytes, follow: true })) ?? ""
  }

  async #read(): Promise<boolean> {
    for (;;) {
      const part = await readForeignPart(this.path, this.#offset, { largestBytes: chunkBytes, follow: true })
      if (part === undefined) return false
      const { bytes, size } = part
      if (size > largestBytes) throw new ForeignFileRefused(this.path, "EFBIG", `has more than ${largestBytes} bytes`)
      if (size < this.#offset) this.#startOver()
      else if (bytes.length === 0) return true
      this.#offset += bytes.length
      this.#take(bytes)
    }
  }

  /** A chunk can end anywhere, even inside a character. */
  #take(bytes: Buffer): void {
    const all = Buffer.concat([this.#rest, bytes])
    const end = all.lastIndexOf(0x0a)
    this.#rest = all.subarray(end + 1)
    if (this.#rest.length > longestLineBytes) {
      throw new ForeignFileRefused(this.path, "EFBIG", `has a line of more than ${longestLineBytes} bytes`)
    }
    for (const text of all.toString("utf8", 0, Math.max(0, end)).split("\n")) {
      const entry = Option.flatMap(readLine(text), entryOf)
      if (Option.isSome(entry)) this.#entries.push(entry.value)
    }
  }

  #startOver(): void {
    this.#entries.length = 0
    this.#offset = 0
    this.#rest = Buffer.alloc(0)
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false
  )

const namesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await readForeignFolder(folder, { mostEntries }).catch(() => undefined)
  return entries?.map(({ name }) => name) ?? []
}

/** The path of a session's transcript. Claude derives the directory's name from the working directory in its own way. */
export const findTranscript = async (configDirectory: string, id: string): Promise<string | undefined> => {
  const projects = join(configDirectory, "projects")
  for (const name of await namesIn(projects)) {
    const path = join(projects, name, `${id}.jsonl`)
    if (await isThere(path)) return path
  }
  return undefined
}

/** The paths of the transcripts of a session's subagents. */
export const subagentPaths = async (transcript: string): Promise<ReadonlyArray<string>> => {
  const directory = join(transcript.replace(/\.jsonl$/, ""), "subagents")
  const names = await namesIn(directory)
  return names.flatMap((name) => (name.endsWith(".jsonl") ? [join(directory, name)] : []))
}
