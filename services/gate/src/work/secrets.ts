/** Secrets that settings refer to, as `env:NAME` or `file:/path`. */
import { homedir } from "node:os"
import { readForeignText } from "@reprise/process"
import { Effect, Schema } from "effect"
import { readReference } from "../notify/ChannelSettings.ts"

/** `hint`: the next step, without its full stop. Neither holds the secret. */
export class SecretMissing extends Schema.TaggedError<SecretMissing>()("SecretMissing", {
  message: Schema.String,
  hint: Schema.String
}) {}

const longestBytes = 16 * 1024

/** `what`: the beginning of the message if it is missing. A text that refers to nothing is the secret itself. */
export const readSecret = Effect.fn("readSecret")(function* (
  what: string,
  reference: string,
  environment: Readonly<Record<string, string | undefined>>
) {
  const missing = (reason: string, hint: string) =>
    new SecretMissing({ message: `${what} is missing: ${reason}.`, hint })
  const place = readReference(reference)
  if (place === undefined) return reference
  if (place._tag === "Environment") {
    const value = environment[place.name]?.trim() ?? ""
    if (value !== "") return value
    return yield* missing(`${place.name} is not set`, `Set the environment variable ${place.name}`)
  }
  const unreadable = missing(
    `${place.path} cannot be read`,
    "Let the setting name a file of at most 16 KB that you may read"
  )
  const path = place.path.replace(/^~(?=\/)/, homedir())
  const found = yield* Effect.tryPromise({
    try: () => readForeignText(path, { largestBytes: longestBytes, follow: true }),
    catch: () => unreadable
  })
  if (found === undefined) return yield* unreadable
  const value = found.trim()
  if (value !== "") return value
  return yield* missing(`${place.path} is empty`, "Write the secret into that file, on one line")
})
