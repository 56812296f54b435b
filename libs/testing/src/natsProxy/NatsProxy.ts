/**
 * Stands between clients and a nats-server and injects faults, frame by frame: it delays, reorders, repeats, swallows and
 * cuts. A fault is chosen by what passes and by how often that has passed, so a seed gives the same faults however the
 * frames of several clients meet.
 */
import { connect, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"
import { TestBrokerError } from "../broker/Broker.ts"
import { Direction, type Fate } from "./Direction.ts"
import { type Frame, makeFrameReader } from "./frames.ts"
import { operationOf } from "./operations.ts"

/** A message on its way. */
export interface Passing {
  /** The client's name, as it tells the server. */
  readonly client: string
  /**
   * From a client, `ask` when it wants an answer, else `tell`. From the server, the `answer` to a request, a `deliver`y that is
   * to be acknowledged, or a message that it passes on.
   */
  readonly kind: "ask" | "tell" | "answer" | "deliver" | "pass on"
  /** The subject, or that of the request which is answered, without keys and random names. */
  readonly operation: string
  /** Which of this client's messages of this kind and operation it is since these faults are used, from 0. */
  readonly nth: number
  /** Whether the stream drops a repeat, since the message has an id. */
  readonly hasId: boolean
}

export type Fates = (passing: Passing) => Fate | undefined

export interface NatsProxy {
  readonly url: string
  /** Applies to what passes from now on. */
  readonly use: (fates: Fates) => void
  /** Nothing goes wrong any more; what was swallowed stays away. */
  readonly heal: () => void
  /** Ends every connection, or those of one client. */
  readonly cut: (client?: string) => void
}

const headersOf = ({ bytes, verb, words }: Frame): string =>
  verb !== "HPUB"
    ? ""
    : bytes.toString("latin1", bytes.indexOf("\r\n") + 2, bytes.indexOf("\r\n") + 2 + Number(words.at(-2)))

type Unnumbered = Omit<Passing, "nth">

/** Numbers what passes on all connections. */
class Counts {
  readonly #counts = new Map<string, number>()

  next(passing: Unnumbered): Passing {
    const name = `${passing.client} ${passing.kind} ${passing.operation}`
    const nth = this.#counts.get(name) ?? 0
    this.#counts.set(name, nth + 1)
    return { ...passing, nth }
  }
}

/** One client's connection, and the proxy's own to the server. */
class Wire {
  client = ""
  readonly #near: Socket
  readonly #far: Socket
  readonly #directions: ReadonlyArray<Direction>
  /** The operations that were asked, by where their answers go. */
  readonly #asked = new Map<string, string>()

  constructor(near: Socket, far: Socket, fates: (passing: Unnumbered) => Fate | undefined, onGone: () => void) {
    this.#near = near
    this.#far = far
    const fateOf = (passing: Unnumbered | undefined) => (passing === undefined ? undefined : fates(passing))
    const cut = () => this.destroy()
    const out = new Direction({
      cut,
      fateOf: (frame) => fateOf(this.#sent(frame)),
      write: (bytes) => void far.write(bytes)
    })
    const back = new Direction({
      cut,
      fateOf: (frame) => fateOf(this.#got(frame)),
      write: (bytes) => void near.write(bytes)
    })
    this.#directions = [out, back]
    for (const [socket, direction] of [
      [near, out],
      [far, back]
    ] as const) {
      const read = makeFrameReader()
      socket.on("data", (piece) => {
        for (const frame of read(piece)) direction.take(frame)
      })
      socket.on("error", () => undefined)
      socket.on("close", () => {
        this.destroy()
        onGone()
      })
    }
  }

  destroy(): void {
    for (const direction of this.#directions) direction.close()
    this.#near.destroy()
    this.#far.destroy()
  }

  #sent(frame: Frame): Unnumbered | undefined {
    const { bytes, reply, subject, verb } = frame
    if (verb === "CONNECT") this.client = /"name":"([^"]*)"/.exec(bytes.toString())?.[1] ?? ""
    if (subject === undefined) return undefined
    const operation = operationOf(subject)
    if (reply !== undefined) this.#asked.set(reply, operation)
    const hasId = /^nats-msg-id:/im.test(headersOf(frame))
    return { client: this.client, kind: reply === undefined ? "tell" : "ask", operation, hasId }
  }

  #got({ reply, subject }: Frame): Unnumbered | undefined {
    if (subject === undefined) return undefined
    const { client } = this
    const asked = this.#asked.get(subject)
    if (asked !== undefined) return { client, kind: "answer", operation: asked, hasId: false }
    const kind = reply?.startsWith("$JS.ACK.") === true ? "deliver" : "pass on"
    return { client, kind, operation: operationOf(subject), hasId: false }
  }
}

const noFaults: Fates = () => undefined

/** A proxy before the server at `target`, until the scope closes. */
export const makeNatsProxy = Effect.fn("makeNatsProxy")(function* (
  target: string
): Effect.fn.Return<NatsProxy, TestBrokerError, Scope.Scope> {
  const { hostname, port } = new URL(target)
  const wires = new Set<Wire>()
  let counts = new Counts()
  let fates = noFaults
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    const wire: Wire = new Wire(
      near,
      far,
      (passing) => fates(counts.next(passing)),
      () => wires.delete(wire)
    )
    wires.add(wire)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void, TestBrokerError>((resume) => {
      server.once("error", (cause) => resume(Effect.fail(new TestBrokerError({ operation: "open its proxy", cause }))))
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const wire of wires) wire.destroy()
      })
  )
  const address = server.address()
  return {
    url: `nats://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    use: (next) => {
      counts = new Counts()
      fates = next
    },
    heal: () => {
      fates = noFaults
    },
    cut: (client) => {
      for (const wire of wires) if (client === undefined || wire.client === client) wire.destroy()
    }
  }
})
