/** Requests as bytes on a socket: nothing is put right on the way. */
import { connect } from "node:net"
import { Effect } from "effect"

export interface RawReply {
  readonly status: number
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const headEnd = "\r\n\r\n"

const read = (text: string): RawReply => {
  const [head = "", ...rest] = text.split(headEnd)
  const [first = "", ...lines] = head.split("\r\n")
  return {
    status: Number(first.split(" ")[1]),
    headers: Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
    ),
    body: rest.join(headEnd)
  }
}

/**
 * What comes until the server ends the connection, or a stream of events begins; undefined: nothing came.
 */
export const sendRaw = (port: number, ...parts: ReadonlyArray<string | Buffer>): Effect.Effect<RawReply | undefined> =>
  Effect.callback<RawReply | undefined>((resume) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    const end = () => {
      socket.destroy()
      resume(Effect.succeed(text === "" ? undefined : read(text)))
    }
    socket.setEncoding("latin1").on("data", (part) => {
      text += part
      if (/^content-type: text\/event-stream/im.test(text) && text.includes(headEnd)) end()
    })
    socket.on("close", end)
    socket.on("error", () => undefined)
    for (const part of parts) socket.write(part)
    return Effect.sync(() => socket.destroy())
  })

export const requestText = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body = ""
): string =>
  [
    `${method} ${target} HTTP/1.1`,
    ...Object.entries({ connection: "close", ...headers }).map(([name, value]) => `${name}: ${value}`),
    ...(body === "" ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    "",
    body
  ].join("\r\n")
