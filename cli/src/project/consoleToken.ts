/** The token that opens the web console of a repository. */
import { randomBytes } from "node:crypto"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { createPrivateFile, readPrivateFile } from "@reprise/process"
import { Effect, Redacted } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import type { Project } from "./Project.ts"

/** Relative to the repository's root, for people. */
export const consoleTokenPath = ".reprise/console.token"

const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}\n$/.test(text)

const unusable = (problem: string, cause?: unknown) =>
  missing(
    "console-token",
    `The token of the web console, ${consoleTokenPath}, ${problem}.`,
    "Remove the file: a new one is made, and whoever is signed in must sign in again.",
    cause
  )

const isReadByOthers = async (path: string): Promise<boolean> => ((await stat(path)).mode & 0o077) !== 0

/** The token, made at the first need. Only this user can read its file. */
export const consoleToken = Effect.fn("consoleToken")(function* ({ directory }: Project) {
  const path = join(directory, "console.token")
  const made = yield* Effect.tryPromise({
    try: async () => {
      await createPrivateFile(path, `${randomBytes(32).toString("base64url")}\n`)
      return { text: await readPrivateFile(path, 1024), isOpen: await isReadByOthers(path) }
    },
    catch: (cause) => unusable(`cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  })
  if (made.isOpen) return yield* unusable("can be read by other users of this machine")
  if (made.text === undefined || !isToken(made.text)) return yield* unusable("is damaged")
  return Redacted.make(made.text.trim())
})
