/** `reprise up`: does the work of every run of a repository and shows what happens, until it is interrupted. */

import { Messenger, type SeenEvent } from "@reprise/actor"
import { defined } from "@reprise/protocol"
import { Effect, Option, Stream } from "effect"
import { loadConfig } from "../../config/loadConfig.ts"
import { findProject } from "../../project/findProject.ts"
import { releaseWhenQuiet } from "../../system/agents/memory.ts"
import { isBrokerLost } from "../../system/broker/BrokerLost.ts"
import { BrokerRole, untilBrokerLostOrFull } from "../../system/broker/broker.ts"
import type { ClientFlags } from "../../system/clientSystem.ts"
import { allRuns } from "../../system/lookUp/lookUp.ts"
import { hostName } from "../../system/names.ts"
import { servingSystem } from "../../system/System.ts"
import type { SystemOptions } from "../../system/SystemOptions.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { color, json, say } from "../../terminal/Printer.ts"
import { agentsOf, requireTrusted } from "../../trust/requireTrust.ts"
import {
  agentSettings,
  consoleSettings,
  notifySettings,
  sandboxSettings,
  serverSettings
} from "../../trust/trustedSettings.ts"
import { isOpenRun } from "../../views/ended.ts"
import { Display, type ProgressFlags, withDisplay } from "../../views/live/Display.ts"
import { publicJson, timedLine } from "../../views/publicJson.ts"
import { servingLines } from "../../views/servingLines.ts"
import { type Console, openConsole, prepareConsole } from "../console/openConsole.ts"
import { showLive } from "../gate/followEvents.ts"
import { offerGate } from "../gate/offerGate.ts"

export interface Serving extends SystemOptions {
  readonly json: boolean
  /** Absent: without the web console. */
  readonly web?: Console
}

const greet = Effect.fnUntraced(function* ({ json: asJson, project, settings }: Serving) {
  const { works } = yield* BrokerRole
  const openRuns = (yield* allRuns).filter(isOpenRun)
  if (asJson) return
  const { url } = settings.nats
  const lines = servingLines({
    directory: project.root,
    works,
    openRuns,
    ...defined({ broker: url })
  })
  for (const line of lines) say(line)
})

const print = (seen: SeenEvent, asJson: boolean) =>
  asJson
    ? Effect.sync(() => json(publicJson(seen.event, seen.meta)))
    : Effect.flatMap(Display, (display) => display.event(seen, timedLine(seen, true)))

const serve = Effect.fnUntraced(function* (options: Serving) {
  const { works } = yield* BrokerRole
  const messenger = yield* Messenger
  const since = new Date(Date.now() - 1).toISOString()
  yield* greet(options)
  if (options.web !== undefined) yield* openConsole(options.web, options)
  let events = 0
  yield* showLive()
  yield* offerGate()
  const printEvents = messenger.events({ from: { since } }).pipe(
    Stream.runForEach((seen) =>
      Effect.suspend(() => {
        events++
        return print(seen, options.json)
      })
    )
  )
  yield* Effect.raceFirst(printEvents, works ? releaseWhenQuiet(() => events) : Effect.never)
}, Effect.scoped)

/**
 * Never succeeds. While another process does the work, this one only follows; it takes over when the other ends. Fails
 * with a `CliFailure` if something is missing or the broker is full.
 */
export const serveProject = Effect.fn("serveProject")(function* (options: Serving) {
  // Any free port is known only when the notifications are under way.
  const { port = 0 } = options.web ?? {}
  const console = { servesConsole: options.web !== undefined, ...(port === 0 ? {} : { consolePort: port }) }
  yield* untilBrokerLostOrFull(serve(options)).pipe(
    Effect.provide(servingSystem({ ...options, ...console, lasting: true, lazyAgents: true })),
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (isBrokerLost(error) && !options.json)
          say(color.dim("The process that did the work has ended; continuing here."))
      })
    ),
    Effect.retry({ while: isBrokerLost })
  )
  return yield* Effect.never
})

interface WebFlags {
  readonly web: boolean
  readonly viewerLink: boolean
  readonly port: Option.Option<number>
}

export const up = (flags: ClientFlags & ProgressFlags & WebFlags) =>
  withDisplay({ ...flags, asData: true, everyRun: true, idle: "Waiting for work" }, serveHere(flags))

const serveHere = Effect.fn("up")(function* ({ json: asJson, nats, port, viewerLink, web }: ClientFlags & WebFlags) {
  if (viewerLink && !web) {
    return yield* wrongUse("web-missing", "--viewer-link is the link of the web console.", "Add --web.")
  }
  if (Option.isSome(port) && !web) {
    return yield* wrongUse("web-missing", "--port is the port of the web console.", "Add --web.")
  }
  const project = yield* findProject(process.cwd())
  const config = yield* loadConfig(project.root, {
    flags: { nats: { url: Option.getOrUndefined(nats) }, web: { port: Option.getOrUndefined(port) } }
  })
  const { settings } = config
  const needed = [
    ...serverSettings,
    ...agentSettings,
    ...sandboxSettings,
    ...notifySettings,
    ...(web ? consoleSettings : [])
  ]
  for (const notice of yield* requireTrusted(project, config, needed, agentsOf(config))) say(notice)
  const host = yield* hostName
  return yield* serveProject({
    project,
    settings,
    json: asJson,
    host,
    ...(web ? { web: yield* prepareConsole(project, settings, viewerLink) } : {})
  })
})
