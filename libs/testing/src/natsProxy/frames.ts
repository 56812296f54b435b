/** The NATS client protocol as frames: a line, and for messages the bytes that it announces. */

export interface Frame {
  /** In capitals: `PUB`, `HMSG`, `PING` … */
  readonly verb: string
  /** The line's other words. */
  readonly words: ReadonlyArray<string>
  /** Of a message: where it goes. */
  readonly subject: string | undefined
  /** Of a message: where its answer goes. */
  readonly reply: string | undefined
  /** As it goes over the wire. */
  readonly bytes: Buffer
}

/** How many words a message's line has without a reply; the reply is the last one before the sizes. */
const messages: Readonly<Record<string, { readonly words: number; readonly sizes: number }>> = {
  PUB: { words: 2, sizes: 1 },
  HPUB: { words: 3, sizes: 2 },
  MSG: { words: 3, sizes: 1 },
  HMSG: { words: 4, sizes: 2 }
}

const lineEnd = Buffer.from("\r\n")

/** The first frame of these bytes; undefined when a part of it has yet to come. */
const readFrame = (bytes: Buffer): Frame | undefined => {
  const end = bytes.indexOf(lineEnd)
  if (end < 0) return undefined
  const [first = "", ...words] = bytes.toString("latin1", 0, end).split(/[ \t]+/)
  const verb = first.toUpperCase()
  const form = messages[verb]
  const headLength = end + lineEnd.length
  if (form === undefined) {
    return { verb, words, subject: undefined, reply: undefined, bytes: bytes.subarray(0, headLength) }
  }
  const length = headLength + Number(words.at(-1)) + lineEnd.length
  if (bytes.length < length) return undefined
  const reply = words.length > form.words ? words[words.length - form.sizes - 1] : undefined
  return { verb, words, subject: words[0], reply, bytes: bytes.subarray(0, length) }
}

/** Gives whole frames of a connection's bytes, however they arrive in pieces. */
export const makeFrameReader = () => {
  let rest: Buffer = Buffer.alloc(0)
  return (piece: Buffer): ReadonlyArray<Frame> => {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const frames: Array<Frame> = []
    for (let frame = readFrame(rest); frame !== undefined; frame = readFrame(rest)) {
      frames.push(frame)
      rest = rest.subarray(frame.bytes.length)
    }
    return frames
  }
}
