/** The browsers that are told of a repository's questions while no page of its console is open. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { makePushBrowsers, markOf, vapidOf } from "@reprise/gate"
import { Effect } from "effect"
import type { Settings } from "../config/settingsTable.ts"
import { consoleToken, pushKey } from "../project/consoleSecrets.ts"
import type { Project } from "../project/Project.ts"
import { missing } from "../terminal/CliFailure.ts"

const fileOf = ({ directory }: Project): string => join(directory, "web-push.json")

/** Push services want an address of whoever sends. That of a console that only this machine reaches says nothing. */
const contactOf = ({ web }: Settings): string =>
  web.origin?.startsWith("https:") === true ? web.origin : "https://localhost"

/** Of a console that is served here. Makes what it needs. */
export const pushBrowsers = Effect.fn("pushBrowsers")(function* (project: Project, settings: Settings) {
  const { answerers, userHeader } = settings.web
  const secret = yield* pushKey(project)
  const vapid = yield* Effect.try({
    try: () => vapidOf(secret, contactOf(settings)),
    catch: (cause) =>
      missing(
        "web-push",
        "The key by which push services know this console is damaged.",
        "Remove .reprise/web-push.key.",
        cause
      )
  })
  return makePushBrowsers({
    file: fileOf(project),
    vapid,
    rules: {
      mark: markOf(yield* consoleToken(project)),
      ...(userHeader === undefined ? {} : { proxy: { userHeader, answerers } })
    }
  })
})

/** Undefined where nobody has switched it on: then nothing is made. */
export const knownPushBrowsers = (project: Project, settings: Settings) =>
  Effect.suspend(() => (existsSync(fileOf(project)) ? pushBrowsers(project, settings) : Effect.undefined))
