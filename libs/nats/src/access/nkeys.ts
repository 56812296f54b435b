/** Keys by which an identity logs in: the server knows the public one, and the seed never leaves its owner. Pure. */
import { createHmac } from "node:crypto"
import { nkeys } from "@nats-io/transport-node"
import { Redacted } from "effect"
import type { Identity } from "./Identity.ts"

/** `SU…`: the seed of a user's key, as the tools of NATS write it. */
export type Seed = Redacted.Redacted

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("")
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("")
}

/** CRC-16 XMODEM, of which the lower byte comes first. */
const checksum = (bytes: Uint8Array): ReadonlyArray<number> => {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ ((crc & 0x8000) === 0 ? 0 : 0x1021)) & 0xffff
  }
  return [crc & 0xff, crc >> 8]
}

/** How a seed of a user begins: `SU`. */
const seedOfUser = [18 << 3, 0] as const
const userPrefix = 20 << 3

/** The seed from 32 random bytes. */
export const seedOf = (random: Uint8Array): Seed => {
  const bytes = Uint8Array.of(seedOfUser[0] | (userPrefix >> 5), (userPrefix & 31) << 3, ...random)
  return Redacted.make(base32(Uint8Array.of(...bytes, ...checksum(bytes))))
}

/** The seed of an identity, the same for everyone who knows the secret and the salt. */
export const derivedSeed = (secret: Redacted.Redacted, salt: string, identity: Identity): Seed =>
  seedOf(
    createHmac("sha256", Redacted.value(secret))
      .update(JSON.stringify(["nats", salt, identity]))
      .digest()
  )

const seedPattern = /^SU[A-Z2-7]{56}$/

/** The seed in a file's text: alone, or among the comments and headings that NATS's tools write around it. */
export const seedIn = (text: string): Seed | undefined => {
  const line = text.split(/\s+/).find((word) => seedPattern.test(word))
  return line === undefined ? undefined : Redacted.make(line)
}

/** For the driver. */
export const seedBytes = (seed: Seed): Uint8Array => encoder.encode(Redacted.value(seed))

/** `U…`. Throws for a seed that is not one. */
export const publicKeyOf = (seed: Seed): string => nkeys.fromSeed(seedBytes(seed)).getPublicKey()

/** A new seed. */
export const newSeed = (): Seed => Redacted.make(decoder.decode(nkeys.createUser().getSeed()))
