/** The secrets of a repository's web console, each in a file that only this user can read. */
import { randomBytes } from "node:crypto"
import { stat } from "node:fs/promises"
import { basename, join } from "node:path"
import { createPrivateFile, readPrivateFile } from "@reprise/process"
import { Effect, Redacted } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import type { Project } from "./Project.ts"

/** Relative to the repository's root, for people. */
export const consoleTokenPath = ".reprise/console.token"
const answerKeyPath = ".reprise/answer-links.key"

interface Kind {
  readonly code: string
  /** For messages: what the file holds. */
  readonly name: string
  readonly path: string
  /** What follows when the file is removed. */
  readonly ifRemoved: string
}

const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}\n$/.test(text)

const unusable = ({ code, ifRemoved, name, path }: Kind, problem: string, cause?: unknown) =>
  missing(code, `${name}, ${path}, ${problem}.`, `Remove the file: a new one is made, and ${ifRemoved}.`, cause)

const isReadByOthers = async (path: string): Promise<boolean> => ((await stat(path)).mode & 0o077) !== 0

/** Made at the first need. */
const secretOf = (kind: Kind) =>
  Effect.fnUntraced(function* ({ directory }: Project) {
    const path = join(directory, basename(kind.path))
    const made = yield* Effect.tryPromise({
      try: async () => {
        await createPrivateFile(path, `${randomBytes(32).toString("base64url")}\n`)
        return { text: await readPrivateFile(path, 1024), isOpen: await isReadByOthers(path) }
      },
      catch: (cause) =>
        unusable(kind, `cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
    })
    if (made.isOpen) return yield* unusable(kind, "can be read by other users of this machine")
    if (made.text === undefined || !isSecret(made.text)) return yield* unusable(kind, "is damaged")
    return Redacted.make(made.text.trim())
  })

/** Relative to the repository's root, for people. */
export const viewerTokenPath = ".reprise/console-viewer.token"

/** Opens the console to viewers. */
export const viewerToken = secretOf({
  code: "viewer-token",
  name: "The viewers' token of the web console",
  path: viewerTokenPath,
  ifRemoved: "viewers must sign in again"
})

/** Opens the console. */
export const consoleToken = secretOf({
  code: "console-token",
  name: "The token of the web console",
  path: consoleTokenPath,
  ifRemoved: "whoever is signed in must sign in again"
})

/** Signs the links by which a message is answered. It never leaves the machine. */
export const answerKey = secretOf({
  code: "answer-links",
  name: "The key of the links that answer questions",
  path: answerKeyPath,
  ifRemoved: "links in sent messages stop working"
})

/** Shows push services that a message is from here, and makes their addresses useless to others. It never leaves the machine. */
export const pushKey = secretOf({
  code: "web-push",
  name: "The key by which push services know this console",
  path: ".reprise/web-push.key",
  ifRemoved: "browsers are notified again after their page was opened once"
})

/** Which sessions were signed out: no secret, but whoever changed it could sign them in again. */
export const endedSessionsFile = ({ directory }: Project): string => join(directory, "console-ended.json")
