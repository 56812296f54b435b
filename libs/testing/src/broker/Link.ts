import { connect, createServer, type Socket } from "node:net"
import { Effect, type Scope } from "effect"
import { TestBrokerError } from "./Broker.ts"

/** A port on loopback that leads to a server, whichever port that has at the moment, and that can be cut. */
export interface Link {
  readonly port: number
  /** Where connections lead from now on. */
  readonly leadTo: (host: string, port: number) => Effect.Effect<void>
  readonly cut: Effect.Effect<void>
  readonly heal: Effect.Effect<void>
}

interface Target {
  readonly host: string
  readonly port: number
}

/** One client's connection: both sockets, or the client alone while the link is cut. */
class Passage {
  readonly #client: Socket
  readonly #onGone: () => void
  #server: Socket | undefined
  /** One side closed while the link was cut; the other must not notice before the link is healed. */
  #broken = false
  #open = true

  constructor(client: Socket, onGone: () => void) {
    this.#client = client
    this.#onGone = onGone
    client.on("error", () => undefined)
    client.on("close", () => this.#closed())
  }

  leadTo(target: Target): void {
    const server = connect({ ...target, noDelay: true })
    server.on("error", () => undefined)
    server.on("close", () => this.#closed())
    this.#server = server
    this.#join(server)
  }

  cut(): void {
    this.#open = false
    this.#client.unpipe()
    this.#server?.unpipe()
    this.#client.pause()
    this.#server?.pause()
  }

  heal(target: Target | undefined): void {
    this.#open = true
    const server = this.#server
    if (this.#broken || (server === undefined && target === undefined)) this.destroy()
    else if (server !== undefined) this.#join(server)
    else if (target !== undefined) this.leadTo(target)
  }

  destroy(): void {
    this.#client.destroy()
    this.#server?.destroy()
    this.#onGone()
  }

  #join(server: Socket): void {
    this.#client.pipe(server)
    server.pipe(this.#client)
  }

  #closed(): void {
    if (this.#open) this.destroy()
    else this.#broken = true
  }
}

/** Opens a link; closed with the scope, with all its connections. */
export const openLink: Effect.Effect<Link, TestBrokerError, Scope.Scope> = Effect.gen(function* () {
  const passages = new Set<Passage>()
  let target: Target | undefined
  let isCut = false
  const server = createServer({ noDelay: true }, (client) => {
    const passage: Passage = new Passage(client, () => passages.delete(passage))
    passages.add(passage)
    if (isCut) passage.cut()
    else passage.heal(target)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void, TestBrokerError>((resume) => {
      server.once("error", (cause) => resume(Effect.fail(new TestBrokerError({ operation: "open its link", cause }))))
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        for (const passage of passages) passage.destroy()
      })
  )
  const address = server.address()
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    leadTo: (host, port) =>
      Effect.sync(() => {
        target = { host, port }
      }),
    cut: Effect.sync(() => {
      isCut = true
      for (const passage of passages) passage.cut()
    }),
    heal: Effect.sync(() => {
      isCut = false
      for (const passage of passages) passage.heal(target)
    })
  }
})
