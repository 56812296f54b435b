/** A growing transcript: entries are kept in memory, and each refresh reads only what was appended. */
import { open, readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { Option } from "effect"
import { type Entry, entryOf, readLine } from "./transcript.ts"

const chunkBytes = 1024 * 1024

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

  async #read(): Promise<boolean> {
    const size = await sizeOf(this.path)
    if (size === undefined) return false
    if (size < this.#offset) this.#startOver()
    if (size === this.#offset) return true
    const file = await open(this.path)
    try {
      for (;;) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, this.#offset)
        if (bytesRead === 0) return true
        this.#offset += bytesRead
        this.#take(buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
  }

  /** A chunk can end anywhere, even inside a character. */
  #take(bytes: Buffer): void {
    const all = Buffer.concat([this.#rest, bytes])
    const end = all.lastIndexOf(0x0a)
    this.#rest = all.subarray(end + 1)
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

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (it) => it.size,
    () => undefined
  )

/** The path of a session's transcript. Claude derives the directory's name from the working directory in its own way. */
export const findTranscript = async (configDirectory: string, id: string): Promise<string | undefined> => {
  const projects = join(configDirectory, "projects")
  const names = await readdir(projects).catch(() => [])
  for (const name of names) {
    const path = join(projects, name, `${id}.jsonl`)
    if ((await sizeOf(path)) !== undefined) return path
  }
  return undefined
}

/** The paths of the transcripts of a session's subagents. */
export const subagentPaths = async (transcript: string): Promise<ReadonlyArray<string>> => {
  const directory = join(transcript.replace(/\.jsonl$/, ""), "subagents")
  const names = await readdir(directory).catch(() => [])
  return names.flatMap((name) => (name.endsWith(".jsonl") ? [join(directory, name)] : []))
}
