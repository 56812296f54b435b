/** The web console under `reprise up --web`: what it needs, and the link that is printed. */
import { ConsolePortTaken, serveConsole } from "@reprise/gate/console"
import { Effect, Redacted } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import { answerKey, consoleToken, consoleTokenPath } from "../../project/consoleSecrets.ts"
import type { Project } from "../../project/Project.ts"
import { prepareState } from "../../project/stateOrigin.ts"
import type { SystemOptions } from "../../system/System.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { say } from "../../terminal/Printer.ts"
import { consoleLine } from "../../views/servingLines.ts"
import { consolePages } from "./consolePages.ts"
import { consoleSources } from "./consoleSources.ts"

export interface Console {
  readonly token: Redacted.Redacted
  /** Signs the links that answer. */
  readonly answerKey: Redacted.Redacted
  /** The folder of the built pages. */
  readonly pages: string
  readonly origin?: string
  /** Kept when the work is taken over, so that the link stays valid. */
  port: number
}

/** Fails if the console could not be served. */
export const prepareConsole = Effect.fn("prepareConsole")(function* (project: Project, { web }: Settings) {
  yield* prepareState(project)
  const token = yield* consoleToken(project)
  const key = yield* answerKey(project)
  const pages = yield* consolePages()
  return {
    token,
    answerKey: key,
    pages,
    port: web.port,
    ...(web.origin === undefined ? {} : { origin: web.origin })
  } satisfies Console
})

const portTaken = (error: ConsolePortTaken) =>
  missing(
    "port-taken",
    error.message,
    "Another program uses that port. Choose one with --port, or web.port in reprise.toml; 0 takes any free one.",
    error
  )

/** Serves until the scope closes, and prints the link. It holds the token only where nobody keeps what is printed. */
export const openConsole = Effect.fn("openConsole")(function* (console: Console, options: SystemOptions) {
  console.port = yield* serveConsole(console).pipe(
    Effect.provide(consoleSources(options)),
    Effect.mapError((error) => (error instanceof ConsolePortTaken ? portTaken(error) : error))
  )
  const { origin, port, token } = console
  const address = origin ?? `http://127.0.0.1:${port}`
  const shown = process.stderr.isTTY === true ? { token: Redacted.value(token) } : {}
  say(consoleLine({ port, address, tokenFile: consoleTokenPath, ...shown }))
})
