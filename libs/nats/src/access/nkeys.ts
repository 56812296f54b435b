/** Keys by which an identity logs in: the server knows the public one, and the seed never leaves its owner. */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from "node:crypto"
import type { Authenticator } from "@nats-io/transport-node"
import { Redacted } from "effect"
import type { Identity } from "./Identity.ts"

/** `SU…`: the seed of a user's key, as the tools of NATS write it. */
export type Seed = Redacted.Redacted

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const base32 = (bytes: Uint8Array): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("")
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("")
}

const bytesOf = (text: string): Uint8Array => {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("")
  return Uint8Array.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
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

const isSeed = (word: string): boolean => {
  if (!seedPattern.test(word)) return false
  const bytes = bytesOf(word)
  const [low, high] = checksum(bytes.subarray(0, 34))
  return bytes[34] === low && bytes[35] === high
}

/** The seed in a file's text: alone, or among the comments and headings that NATS's tools write around it. */
export const seedIn = (text: string): Seed | undefined => {
  const line = text.split(/\s+/).find(isSeed)
  return line === undefined ? undefined : Redacted.make(line)
}

/** What stands before the 32 bytes of an Ed25519 key in its usual envelope (PKCS 8, RFC 8410). */
const envelope = Buffer.from("302e020100300506032b657004220420", "hex")

/** The seed as a key of Node's: its own signing takes a hundredth of the time of the driver's, which is JavaScript. */
const privateKeyOf = (seed: Seed): KeyObject => {
  const random = bytesOf(Redacted.value(seed)).subarray(2, 34)
  return createPrivateKey({ key: Buffer.concat([envelope, random]), format: "der", type: "pkcs8" })
}

/** `U…`. */
const encodedPublicKey = (key: KeyObject): string => {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" })
  const bytes = Uint8Array.of(userPrefix, ...Buffer.from(x, "base64url"))
  return base32(Uint8Array.of(...bytes, ...checksum(bytes)))
}

/** `U…`: what a server is told. */
export const publicKeyOf = (seed: Seed): string => encodedPublicKey(privateKeyOf(seed))

/** Answers the server's challenge, for the driver. */
export const authenticatorOf = (seed: Seed): Authenticator => {
  const key = privateKeyOf(seed)
  const nkey = encodedPublicKey(key)
  return (challenge) => ({ nkey, sig: sign(null, Buffer.from(challenge ?? ""), key).toString("base64url") })
}

/** A new seed. */
export const newSeed = (): Seed => seedOf(randomBytes(32))
