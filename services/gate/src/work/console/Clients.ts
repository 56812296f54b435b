/** How much each client of the console asks for at present (docs/console.md#limits). Kept in memory alone. */
import { Clock, Effect } from "effect"
import { type Bucket, isFull, type Limits, type Turn, turnOf } from "../../console/limits.ts"
import type { Visitor } from "../../console/visitor.ts"
import { isLoopback } from "../../notify/addresses.ts"
import { makePlaces, type Place } from "./Places.ts"

export interface Client {
  readonly isSignedIn: boolean
  /** A user of a proxy, all who have one token, or else an address, which all share who are there and have not signed in. */
  readonly name: string
}

/** All addresses of this machine are one client, and so are those of an IPv6 network: anybody there can take any of them. */
const networkOf = (address: string): string => {
  const plain = address.replace(/^::ffff:/i, "")
  if (isLoopback(plain)) return "this machine"
  return plain.includes(":") ? plain.split(":").slice(0, 4).join(":") : plain
}

/** Signed-in clients are counted by identity: another session, or another connection, brings nobody more. */
export const clientOf = (visitor: Visitor | undefined, address: string): Client => {
  if (visitor === undefined) return { isSignedIn: false, name: networkOf(address) }
  return { isSignedIn: true, name: visitor.user === undefined ? `token ${visitor.role}` : `user ${visitor.user}` }
}

/** Clients that are told apart. Beyond them the new ones share what one may ask for. */
const mostClients = 1_000

export interface Clients {
  /** When this request of the client is served, or that it is not. */
  readonly turn: (client: Client, nowMs: number) => Turn
  /** Returns how to give the place of a stream back; undefined: the client has no more. */
  readonly openStream: (client: Client) => (() => void) | undefined
  /** A place among the client's answers under way, which must be left. */
  readonly begin: (client: Client) => Place
  /**
   * A reading whose work grows with what is stored. A place for one rests after it for as long as it took, so that
   * whoever asks for nothing else leaves half of the time to the work. `what`: its kind, of which there are few at a time.
   * `sent`: until then what was read is in memory, and the client's place stays taken.
   */
  readonly readMuch: <A, E, R>(
    client: Client,
    what: string,
    reading: Effect.Effect<A, E, R>,
    sent: Effect.Effect<void>
  ) => Effect.Effect<A, E, R>
}

const makeTurns = (limits: Limits): Clients["turn"] => {
  const kind = (budget: Limits["signedIn"]) => ({ budget, buckets: new Map<string, Bucket>() })
  const [signedIn, signedOut] = [kind(limits.signedIn), kind(limits.signedOut)]
  const strangers = kind(limits.allSignedOut)

  const own = ({ budget, buckets }: typeof signedIn, wanted: string, nowMs: number) => {
    if (buckets.size >= mostClients) {
      for (const [name, bucket] of buckets) if (isFull(bucket, budget, nowMs)) buckets.delete(name)
    }
    const name = buckets.has(wanted) || buckets.size < mostClients ? wanted : "others"
    const turn = turnOf(buckets.get(name), budget, nowMs)
    return { turn, pay: () => turn._tag === "Served" && buckets.set(name, turn.bucket) }
  }

  return (client, nowMs) => {
    const asked = own(client.isSignedIn ? signedIn : signedOut, client.name, nowMs)
    if (client.isSignedIn || asked.turn._tag === "Refused") {
      asked.pay()
      return asked.turn
    }
    // Whoever has many addresses has no more than all strangers together.
    const together = own(strangers, "all", nowMs)
    if (together.turn._tag === "Refused") return together.turn
    asked.pay()
    together.pay()
    return asked.turn.afterMs > together.turn.afterMs ? asked.turn : together.turn
  }
}

const makeReadMuch = ({ longestRestMs, most, mostOfOneKind }: Limits["readings"]): Clients["readMuch"] => {
  const [own, all] = [makePlaces(most), makePlaces(mostOfOneKind)]
  const holding = <A, E, R>(come: () => Place, use: Effect.Effect<A, E, R>, rest: Effect.Effect<void>) =>
    Effect.acquireUseRelease(
      Effect.sync(come),
      ({ taken }) => Effect.andThen(taken, use),
      ({ isTaken, leave }) =>
        isTaken() ? Effect.forkDetach(Effect.andThen(rest, Effect.sync(leave))) : Effect.sync(leave)
    )
  return ({ name }, what, reading, sent) =>
    Effect.suspend(() => {
      let tookMs = 0
      const timed = Effect.flatMap(Clock.currentTimeMillis, (began) =>
        Effect.ensuring(
          reading,
          Effect.map(Clock.currentTimeMillis, (now) => {
            tookMs = Math.min(longestRestMs, now - began)
          })
        )
      )
      const rest = Effect.suspend(() => Effect.sleep(tookMs))
      return holding(
        () => own(name),
        holding(() => all(what), timed, rest),
        Effect.andThen(sent, rest)
      )
    })
}

export const makeClients = (limits: Limits): Clients => {
  const streams = new Map<string, number>()

  const openStream = ({ name }: Client) => {
    const open = streams.get(name) ?? 0
    if (open >= limits.streams) return undefined
    streams.set(name, open + 1)
    return () => {
      const left = (streams.get(name) ?? 1) - 1
      if (left === 0) streams.delete(name)
      else streams.set(name, left)
    }
  }

  const [signedIn, signedOut] = [makePlaces(limits.underWay.signedIn), makePlaces(limits.underWay.signedOut)]
  const begin = ({ isSignedIn, name }: Client) => (isSignedIn ? signedIn : signedOut)(name)

  return { turn: makeTurns(limits), openStream, begin, readMuch: makeReadMuch(limits.readings) }
}
