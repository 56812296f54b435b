/**
 * A process's connection to the broker. Every call is a request and an answer, and each of them arrives later, or not at
 * all; the broker does its part as a process of its own. When the client is killed the broker notices that its connection
 * has ended, and nothing that was on its way reaches the client.
 */
import {
  BrokerFault,
  type BrokerShape,
  type Bucket,
  type ConsumerSpec,
  type Delivered,
  type QueryHandler,
  type StoredMessage
} from "@reprise/actor"
import { Effect, Exit, Fiber, Queue, Scope, Stream } from "effect"
import { inOrder } from "../machine/inOrder.ts"
import type { Machine, Process } from "../machine/Machine.ts"

/** What happens to one call. `kill`: the client dies when the request leaves, or when the answer is there. */
export type CallFate =
  | { readonly _tag: "RequestLost" }
  | { readonly _tag: "AnswerLost" }
  | { readonly _tag: "Slow"; readonly ms: number }
  | { readonly _tag: "Kill"; readonly when: "before" | "after" }

/** What happens to one delivery. */
export type DeliveryFate =
  | { readonly _tag: "Twice" }
  | { readonly _tag: "AckLost" }
  | { readonly _tag: "Late"; readonly ms: number }

/** Decides what happens on a connection; undefined: nothing unusual. */
export interface Fates {
  readonly ofCall: (operation: string) => CallFate | undefined
  readonly ofDelivery: (stream: string) => DeliveryFate | undefined
  readonly kill: () => void
}

export interface Connection {
  readonly broker: BrokerShape
  /** Whether a call is on its way that a fault holds up. */
  readonly isSlow: () => boolean
  /** The broker notices that the client is gone. */
  readonly close: () => void
}

/** A client gives up on an answer after this long. */
const timeoutMs = 5_000
/** Of a query, which is asked once more. */
const queryTimeoutMs = 30_000
const againMs = 400
/** A client asks the broker for messages so often; one that hangs for longer gets no more until it goes on. */
const pullMs = 30_000

const lost = (operation: string) =>
  new BrokerFault({ operation, cause: { _tag: "RequestTimedOut", message: "the broker did not answer in time" } })

/** Of one run or actor: its deliveries keep their order. */
const laneOf = ({ subject }: StoredMessage, stream: string): string => {
  const tokens = subject.split(".")
  return stream === "events" ? `${tokens[3]}` : `${tokens.at(-1)}`
}

export const connect = (
  machine: Machine,
  real: BrokerShape,
  server: Process,
  client: Process,
  fates: Fates
): Connection => {
  const scope = Scope.makeUnsafe()
  const inConnection = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E> =>
    Effect.provideService(effect, Scope.Scope, scope)

  let slowCalls = 0
  /** The request, what the broker does, the answer. */
  const call = <A, E>(operation: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | BrokerFault> =>
    Effect.callback<A, E | BrokerFault>((resume) => {
      const fate = fates.ofCall(operation)
      const giveUp = () => machine.after(client, timeoutMs, () => resume(Effect.fail(lost(operation))))
      const answer = (exit: Exit.Exit<A, E>) => {
        if (fate?._tag === "AnswerLost") return
        machine.post(client, () => (fate?._tag === "Kill" ? fates.kill() : resume(exit)))
      }
      const request = () => {
        const fiber = server.fork(effect)
        fiber.addObserver(answer)
      }
      if (fate?._tag === "RequestLost" || fate?._tag === "AnswerLost") giveUp()
      if (fate?._tag === "RequestLost") return
      if (fate?._tag === "Kill" && fate.when === "before") return void machine.post(client, fates.kill)
      if (fate?._tag !== "Slow") return machine.post(server, request)
      slowCalls += 1
      machine.after(server, fate.ms, () => {
        slowCalls -= 1
        request()
      })
    })

  /** What the broker keeps for a client that hangs. */
  const kept: Array<Delivered> = []
  const lanes = new Map<string, ReturnType<typeof inOrder>>()
  const laneAt = (name: string) => {
    const known = lanes.get(name)
    if (known !== undefined) return known
    const made = inOrder(client)
    lanes.set(name, made)
    return made
  }

  /** The delivery as the client sees it: what it says about it takes its time, and may be lost. */
  const arrived = (delivery: Delivered, fate: DeliveryFate | undefined): Delivered => ({
    ...delivery,
    ack: () => {
      if (fate?._tag !== "AckLost") machine.post(server, () => delivery.ack())
    },
    nak: (delayMs) => machine.post(server, () => delivery.nak(delayMs)),
    working: () => machine.post(server, () => delivery.working())
  })

  const deliver = (stream: string, delivery: Delivered, take: (delivery: Delivered) => void) => {
    const hangsUntilMs = client.frozenUntilMs
    if (hangsUntilMs > machine.nowMs && machine.nowMs - client.frozenSinceMs > pullMs) {
      kept.push(delivery)
      return delivery.nak(hangsUntilMs - machine.nowMs)
    }
    const fate = fates.ofDelivery(stream)
    const lane = laneAt(`${stream} ${laneOf(delivery, stream)}`)
    const seen = arrived(delivery, fate)
    lane(() => take(seen), fate?._tag === "Late" ? fate.ms : 0)
    if (fate?._tag === "Twice") {
      machine.after(client, againMs, () => take({ ...seen, deliveryCount: seen.deliveryCount + 1 }))
    }
  }

  const consume: BrokerShape["consume"] = (spec, take) =>
    call(
      `consume ${spec.durable}`,
      inConnection(real.consume(spec, (delivery) => deliver(spec.stream, delivery, take)))
    )

  /**
   * The client asks the broker for as many messages as it has room for, and again when they have come. What comes without
   * room is handed back.
   */
  const pull: BrokerShape["pull"] = (specs, room, take) => {
    /** By consumer: messages that the client has asked for, and those that the broker still has to send. */
    const expected = new Map<ConsumerSpec, number>()
    const wanted = new Map<ConsumerSpec, number>()
    const arrive = (spec: ConsumerSpec, delivery: Delivered) => {
      expected.set(spec, (expected.get(spec) ?? 0) - 1)
      if (room(spec) > 0) take(delivery)
      else delivery.nak()
      ask(spec)
    }
    const pullOf = (spec: ConsumerSpec) =>
      real.pull(
        [spec],
        () => wanted.get(spec) ?? 0,
        (delivery) => {
          wanted.set(spec, (wanted.get(spec) ?? 0) - 1)
          const seen = arrived(delivery, fates.ofDelivery(spec.stream))
          machine.post(client, () => arrive(spec, seen))
        }
      )
    const resume = new Map<ConsumerSpec, () => void>()
    const ask = (spec: ConsumerSpec) => {
      const count = room(spec)
      if (count === 0 || (expected.get(spec) ?? 0) > 0) return
      expected.set(spec, count)
      machine.post(server, () => {
        wanted.set(spec, count)
        resume.get(spec)?.()
      })
    }
    const open = Effect.forEach(specs, (spec) =>
      Effect.map(pullOf(spec), (goOn) => {
        resume.set(spec, goOn)
      })
    )
    return Effect.map(call("pull", inConnection(open)), () => {
      const askAll = () => {
        for (const spec of specs) ask(spec)
      }
      askAll()
      return askAll
    })
  }

  const follow: BrokerShape["follow"] = (subjects, from) =>
    Stream.callback<StoredMessage, BrokerFault>((queue) =>
      Effect.acquireRelease(
        call(
          "follow",
          Effect.sync(() => {
            const lane = inOrder(client)
            const reading = Stream.runForEach(real.follow(subjects, from), (message) =>
              Effect.sync(() => lane(() => void Queue.offerUnsafe(queue, message)))
            )
            return server.fork(Effect.forkIn(reading, scope).pipe(Effect.flatMap(Fiber.join)))
          })
        ),
        (fiber) => Effect.sync(() => machine.post(server, () => fiber.interruptUnsafe()))
      )
    )

  /** A query is answered by the process that serves it. */
  const served =
    (handler: QueryHandler): QueryHandler =>
    (request) =>
      Effect.callback<string>((resume) => {
        machine.post(client, () => {
          client
            .fork(handler(request))
            .addObserver((exit) => machine.post(server, () => (Exit.isSuccess(exit) ? resume(exit) : undefined)))
        })
      })

  const bucket = (name: string, of: Bucket): Bucket => ({
    get: (key) => call(`${name}.get ${key}`, of.get(key)),
    put: (key, value, expected) => call(`${name}.put ${key}`, of.put(key, value, expected)),
    remove: (key) => call(`${name}.remove ${key}`, of.remove(key)),
    list: (prefix) => call(`${name}.list ${prefix}`, of.list(prefix))
  })

  const { transcripts } = real
  const broker: BrokerShape = {
    append: (message, expected) => call(`append ${message.subject}`, real.append(message, expected)),
    last: (stream, subject) => call(`last ${subject}`, real.last(stream, subject)),
    next: (stream, subject, after) => call(`next ${subject}`, real.next(stream, subject, after)),
    read: (stream, subject, after) => call(`read ${subject}`, real.read(stream, subject, after)),
    purge: (stream, subject) => call(`purge ${subject}`, real.purge(stream, subject)),
    remove: (stream, sequence) => call(`remove ${stream}`, real.remove(stream, sequence)),
    // As on the real broker: nothing to publish is not a call.
    publish: (messages) =>
      messages[0] === undefined ? Effect.void : call(`publish ${messages[0].subject}`, real.publish(messages)),
    consume,
    pull,
    follow,
    snapshots: bucket("snapshots", real.snapshots),
    views: bucket("views", real.views),
    transcripts: {
      put: (name, text) => call("transcripts.put", transcripts.put(name, text)),
      get: (name) => call("transcripts.get", transcripts.get(name)),
      list: (prefix) => call("transcripts.list", transcripts.list(prefix)),
      remove: (name) => call("transcripts.remove", transcripts.remove(name))
    },
    serve: (service, handlers) =>
      call(
        `serve ${service}`,
        inConnection(
          real.serve(
            service,
            Object.fromEntries(Object.entries(handlers).map(([name, handler]) => [name, served(handler)]))
          )
        )
      ),
    request: (subject, request) =>
      call(`ask ${subject}`, real.request(subject, request)).pipe(
        Effect.timeoutOrElse({ duration: queryTimeoutMs, orElse: () => Effect.fail(lost(`ask ${subject}`)) })
      ),
    // Nobody listens in the simulation, and nothing depends on who does.
    announce: () => Effect.void,
    hear: () => Stream.never,
    full: real.full,
    lag: (consumer) => call(`lag ${consumer.durable}`, real.lag(consumer)),
    settled: real.settled,
    decided: real.decided
  }
  const close = () => {
    for (const delivery of kept) delivery.nak()
    server.fork(Scope.close(scope, Exit.void))
  }
  return { broker, isSlow: () => slowCalls > 0, close }
}
