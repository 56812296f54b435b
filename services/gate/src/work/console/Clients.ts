/** How much each client of the console asks for at present (docs/console.md#limits). Kept in memory alone. */

import { type Bucket, isFull, type Limits, type Turn, turnOf } from "../../console/limits.ts"
import type { Visitor } from "../../console/visitor.ts"
import { isLoopback } from "../../notify/addresses.ts"

export interface Client {
  readonly isSignedIn: boolean
  /** A user of a proxy, a session, or else an address, which all share who are there and have not signed in. */
  readonly name: string
}

/** All addresses of this machine are one client, and so are those of an IPv6 network: anybody there can take any of them. */
const networkOf = (address: string): string => {
  const plain = address.replace(/^::ffff:/i, "")
  if (isLoopback(plain)) return "this machine"
  return plain.includes(":") ? plain.split(":").slice(0, 4).join(":") : plain
}

export const clientOf = (visitor: Visitor | undefined, address: string): Client =>
  visitor === undefined
    ? { isSignedIn: false, name: networkOf(address) }
    : { isSignedIn: true, name: visitor.user === undefined ? `session ${visitor.session}` : `user ${visitor.user}` }

/** Clients that are told apart. Beyond them the new ones share what one may ask for. */
const mostClients = 1_000

export interface Clients {
  /** When this request of the client is served, or that it is not. */
  readonly turn: (client: Client, nowMs: number) => Turn
  /** Returns how to give the place of a stream back; undefined: the client has no more. */
  readonly openStream: (client: Client) => (() => void) | undefined
}

export const makeClients = (limits: Limits): Clients => {
  const signedIn = { budget: limits.signedIn, buckets: new Map<string, Bucket>() }
  const signedOut = { budget: limits.signedOut, buckets: new Map<string, Bucket>() }
  const streams = new Map<string, number>()

  const turn = (client: Client, nowMs: number): Turn => {
    const { buckets, budget } = client.isSignedIn ? signedIn : signedOut
    if (buckets.size >= mostClients) {
      for (const [name, bucket] of buckets) if (isFull(bucket, budget, nowMs)) buckets.delete(name)
    }
    const name = buckets.has(client.name) || buckets.size < mostClients ? client.name : "others"
    const turn = turnOf(buckets.get(name), budget, nowMs)
    if (turn._tag === "Served") buckets.set(name, turn.bucket)
    return turn
  }

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

  return { turn, openStream }
}
