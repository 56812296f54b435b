/** The secret with which this machine signs, and others that follow from it. */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { join } from "node:path"
import { createPrivateFile, readPrivateFile, userConfigFolder } from "@reprise/process"
import { Effect, Redacted } from "effect"
import { missing } from "../terminal/CliFailure.ts"

const keyFile = () => join(userConfigFolder(process.env), "machine.key")
const isKey = (text: string): boolean => /^[0-9a-f]{64}\n$/.test(text)

const readKey = Effect.fnUntraced(function* () {
  const path = keyFile()
  const text = yield* Effect.tryPromise({
    try: () => readPrivateFile(path, 1024),
    catch: (cause) =>
      missing(
        "machine-key",
        `The key with which this machine signs, ${path}, cannot be read: ${cause instanceof Error ? cause.message : cause}.`,
        "It must be your own file, and only you may write it (mode 0600).",
        cause
      )
  })
  if (text !== undefined && !isKey(text)) {
    return yield* missing(
      "machine-key",
      `The key with which this machine signs, ${path}, is damaged.`,
      "Remove it, then 'reprise trust --state' signs the state of a repository again."
    )
  }
  return text
})

const makeKey = Effect.fnUntraced(function* () {
  const path = keyFile()
  yield* Effect.tryPromise({
    try: () => createPrivateFile(path, `${randomBytes(32).toString("hex")}\n`),
    catch: (cause) =>
      missing(
        "machine-key",
        `The key with which this machine signs cannot be written to ${path}: ${cause instanceof Error ? cause.message : cause}.`,
        "Make that folder writable for you, or set XDG_CONFIG_HOME.",
        cause
      )
  })
  const key = yield* readKey()
  return key ?? (yield* missing("machine-key", `${path} vanished while it was made.`, "Try again."))
})

const signatureOf = (key: string, text: string) => createHmac("sha256", key).update(text).digest("hex")

/** This machine's signature of a text. The key is made at the first need. */
export const sign = Effect.fn("sign")(function* (text: string) {
  return signatureOf((yield* readKey()) ?? (yield* makeKey()), text)
})

/** What only programs know that can read this machine's key: another for each purpose. */
export const machineSecret = (purpose: string) =>
  Effect.map(sign(JSON.stringify(["reprise-secret", 1, purpose])), Redacted.make)

/** Whether this machine made the signature of a text. */
export const isSigned = Effect.fn("isSigned")(function* (text: string, signature: string) {
  const key = yield* readKey()
  if (key === undefined) return false
  const [expected, given] = [signatureOf(key, text), signature].map((one) => Buffer.from(one))
  return expected !== undefined && given?.length === expected.length && timingSafeEqual(expected, given)
})
