/**
 * The messages of an agent's standard output, one in each line. An agent that writes something else, or a line without an
 * end, is not an agent to go on with: the stream fails, and says with what words.
 */
import type { Readable, Writable } from "node:stream"
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk"

export interface MessageLimits {
  /** Of one line. */
  readonly lineBytes: number
  /** Looks at each piece; throws to end the stream. */
  readonly onBytes: (bytes: number) => void
}

const newline = 0x0a
const shown = 120

const isMessage = (value: unknown): value is AnyMessage =>
  typeof value === "object" && value !== null && "jsonrpc" in value && value.jsonrpc === "2.0"

/** Throws with what is wrong. */
export const parseMessage = (line: string): AnyMessage => {
  const wrong = () => new Error(`It wrote something that is not JSON-RPC 2.0: ${line.trim().slice(0, shown)}`)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw wrong()
  }
  if (isMessage(value)) return value
  throw wrong()
}

/** Splits pieces of bytes into lines. Throws for a line that is longer than allowed. */
export class Lines {
  readonly #longest: number
  #pieces: Array<Buffer> = []
  #size = 0

  constructor(longest: number) {
    this.#longest = longest
  }

  add(piece: Buffer): ReadonlyArray<string> {
    const lines: Array<string> = []
    let from = 0
    for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
      this.#take(piece.subarray(from, at))
      lines.push(Buffer.concat(this.#pieces).toString("utf8"))
      this.#pieces = []
      this.#size = 0
      from = at + 1
    }
    this.#take(piece.subarray(from))
    return lines.filter((line) => line.trim() !== "")
  }

  #take(rest: Buffer): void {
    if (rest.length === 0) return
    this.#size += rest.length
    if (this.#size > this.#longest) throw new Error(`It wrote a line of more than ${this.#longest} bytes.`)
    this.#pieces.push(rest)
  }
}

/** `onBroken` is told once why the messages ended before the output did. */
export const messageStream = (
  { stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
  limits: MessageLimits,
  onBroken: (reason: string) => void
): Stream => {
  async function* messages(): AsyncGenerator<AnyMessage> {
    const lines = new Lines(limits.lineBytes)
    try {
      for await (const piece of stdout) {
        const bytes = Buffer.from(piece)
        limits.onBytes(bytes.length)
        for (const line of lines.add(bytes)) yield parseMessage(line)
      }
    } catch (error) {
      onBroken(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    readable: ReadableStream.from(messages()),
    writable: new WritableStream<AnyMessage>({
      write: (message) =>
        new Promise<void>((resolve) => {
          // What cannot be written any more is not read either: the end of the program says so.
          stdin.write(`${JSON.stringify(message)}\n`, () => resolve())
        })
    })
  }
}
