/** All routes of the console: what is in no line of these is answered by nobody. */
import { Effect, type Redacted } from "effect"
import type { PushBrowsers } from "../notify/PushBrowsers.ts"
import { commandRoutes } from "./commandRoutes.ts"
import { eventRoutes } from "./eventRoutes.ts"
import { linkRoutes } from "./linkRoutes.ts"
import { pageRoutes } from "./pageRoutes.ts"
import { pushRoutes } from "./pushRoutes.ts"
import type { makeSignIn } from "./signIn.ts"
import { viewRoutes } from "./viewRoutes.ts"

export interface RoutedOptions {
  /** Signs the links that answer; absent: none are taken. */
  readonly answerKey?: Redacted.Redacted
  /** The browsers that are told while no page is open; absent: none is. */
  readonly push?: PushBrowsers
  /** The folder of the built pages. */
  readonly pages: string
}

export const consoleRoutes = (signIn: ReturnType<typeof makeSignIn>, { answerKey, pages, push }: RoutedOptions) =>
  Effect.map(pageRoutes(pages), (built) => [
    ...signIn.routes,
    ...viewRoutes,
    ...eventRoutes,
    ...commandRoutes,
    ...linkRoutes(answerKey),
    ...pushRoutes(push),
    ...built
  ])
