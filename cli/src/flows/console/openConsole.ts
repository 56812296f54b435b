/** The web console under `reprise up --web` and `reprise serve console`: what it needs, and the links that are printed. */

import {
  type ConsoleOptions,
  ConsolePortTaken,
  listenProblem,
  serveConsole,
  type TrustedProxy
} from "@reprise/gate/console"
import { defined } from "@reprise/protocol"
import { Effect, Redacted } from "effect"
import type { Settings } from "../../config/settingsTable.ts"
import {
  answerKey,
  consoleToken,
  consoleTokenPath,
  endedSessionsFile,
  viewerToken,
  viewerTokenPath
} from "../../project/consoleSecrets.ts"
import type { Project } from "../../project/Project.ts"
import { prepareState } from "../../project/stateOrigin.ts"
import { pushBrowsers } from "../../system/pushBrowsers.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { proxySecret, sharedAnswerKey } from "../../system/webSecrets.ts"
import { missing } from "../../terminal/CliFailure.ts"
import { say } from "../../terminal/Printer.ts"
import { consoleLine } from "../../views/servingLines.ts"
import { consolePages } from "./consolePages.ts"
import { consoleSources, storedSources } from "./consoleSources.ts"

export interface Console extends Omit<ConsoleOptions, "port"> {
  readonly listen: string
  readonly token: Redacted.Redacted
  readonly viewerToken: Redacted.Redacted
  /** Whether the viewers' link is printed, too. */
  readonly showsViewerLink: boolean
  /** Kept when the work is taken over, so that the link stays valid. */
  port: number
}

/** The proxy that signs people in; undefined: there is none. */
const proxyOf = Effect.fnUntraced(function* ({
  answerers,
  groupsHeader,
  proxySecret: reference,
  userHeader
}: Settings["web"]) {
  if (userHeader === undefined) {
    const stray = groupsHeader !== undefined ? "web.groupsHeader" : answerers.length > 0 ? "web.answerers" : undefined
    if (stray !== undefined) {
      return yield* missing(
        "user-header",
        `${stray} is set, but not web.userHeader, so nobody is signed in by a proxy.`,
        "Name the header with the user's name, such as X-Forwarded-Email."
      )
    }
    if (reference === undefined) return undefined
  }
  return {
    ...(userHeader === undefined ? {} : { userHeader: userHeader.toLowerCase() }),
    ...(groupsHeader === undefined ? {} : { groupsHeader: groupsHeader.toLowerCase() }),
    answerers,
    ...(reference === undefined ? {} : { secret: yield* proxySecret(reference) })
  } satisfies TrustedProxy
})

/** Where it listens, and for whom. Fails if it could not be served, or would be open to others. */
const addressOf = Effect.fnUntraced(function* ({ web }: Settings) {
  const { listen, origin, port } = web
  const problem = listenProblem({ listen, origin, hasSecret: web.proxySecret !== undefined })
  if (problem !== undefined) {
    return yield* missing(
      "web-listen",
      problem,
      "Set web.origin and web.proxySecret, as docs/console.md describes, or leave web.listen out."
    )
  }
  const proxy = yield* proxyOf(web)
  return {
    listen,
    port,
    ...defined({ origin, proxy })
  }
})

/** Of a repository: whoever has its token, or is signed in by a proxy, gets in. */
export const prepareConsole = Effect.fn("prepareConsole")(function* (
  project: Project,
  settings: Settings,
  showsViewerLink: boolean
) {
  const address = yield* addressOf(settings)
  yield* prepareState(project)
  return {
    ...address,
    token: yield* consoleToken(project),
    viewerToken: yield* viewerToken(project),
    endedFile: endedSessionsFile(project),
    answerKey: (yield* sharedAnswerKey(settings)) ?? (yield* answerKey(project)),
    // With a NATS server that others share, the gate that tells a browser need not be on this machine.
    ...(settings.nats.url === undefined ? { push: yield* pushBrowsers(project, settings) } : {}),
    pages: yield* consolePages(),
    showsViewerLink
  } satisfies Console
})

/** Of the services of a NATS server: only a proxy signs people in. */
export const prepareSharedConsole = Effect.fn("prepareSharedConsole")(function* (settings: Settings) {
  const address = yield* addressOf(settings)
  if (address.proxy?.userHeader === undefined) {
    return yield* missing(
      "user-header",
      "Nobody could sign in: this console has no token, and no proxy names its users.",
      "Set REPRISE_WEB_USER_HEADER to the header with the user's name, as docs/kubernetes.md describes."
    )
  }
  const key = yield* sharedAnswerKey(settings)
  return {
    ...address,
    ...defined({ answerKey: key }),
    pages: yield* consolePages()
  } satisfies ConsoleOptions
})

const refusedPort = <E>(error: E | ConsolePortTaken) => (error instanceof ConsolePortTaken ? portTaken(error) : error)

const portTaken = (error: ConsolePortTaken) =>
  missing(
    "port-taken",
    error.message,
    "Another program uses that port. Choose one with --port, or web.port in reprise.toml; 0 takes any free one.",
    error
  )

/** Without a secret any program of this machine could send the header. */
const warnOf = ({ proxy }: Console): void => {
  if (proxy?.userHeader === undefined || proxy.secret !== undefined) return
  say(
    "Without web.proxySecret, every user and program of this machine can sign in to the console under any name, by the header of web.userHeader."
  )
}

/** Serves until the scope closes, and prints the links. They hold a token only where nobody keeps what is printed. */
export const openConsole = Effect.fn("openConsole")(function* (console: Console, options: SystemOptions) {
  console.port = yield* serveConsole(console).pipe(
    Effect.provide(consoleSources(options)),
    Effect.mapError(refusedPort)
  )
  const { listen, origin, port, showsViewerLink, token, viewerToken: viewers } = console
  const link = { listen, port, address: origin ?? `http://127.0.0.1:${port}` }
  const shown = (secret: Redacted.Redacted) => (process.stderr.isTTY === true ? { token: Redacted.value(secret) } : {})
  say(consoleLine({ ...link, tokenFile: consoleTokenPath, ...shown(token) }))
  if (showsViewerLink) {
    say(consoleLine({ ...link, tokenFile: viewerTokenPath, isForViewers: true, ...shown(viewers) }))
  }
  warnOf(console)
})

/** Serves until the scope closes. */
export const openSharedConsole = (console: ConsoleOptions, options: SystemOptions) =>
  serveConsole(console).pipe(
    Effect.provide(storedSources(options)),
    Effect.mapError(refusedPort),
    Effect.tap((port) => Effect.logInfo(`The web console is on ${console.listen}:${port}.`))
  )
