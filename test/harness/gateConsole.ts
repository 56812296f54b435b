/**
 * The web console over the gate alone, in this process: questions are raised by command, and what lies on a host is what
 * the test says. For what needs no agent. The gate, its HTTP side, the pages and the browser are real.
 */
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { layer as gate } from "@reprise/gate"
import { ConsoleSources, serveConsole, Unavailable } from "@reprise/gate/console"
import { Effect, Layer, Redacted } from "effect"
import type { Page } from "playwright-core"
import { consolePages } from "../../cli/src/flows/console/consolePages.ts"
import { act } from "./browser.ts"

const token = "a token of this test"
const unavailable = Effect.fail(new Unavailable({ code: "not-here", message: "Not here.", hint: "Look elsewhere." }))

/** The gate with its console. `given`: what the test wants to be shown. */
export const gateWith = (given: Partial<ConsoleSources["Service"]> = {}) =>
  Layer.merge(
    gate,
    Layer.succeed(
      ConsoleSources,
      ConsoleSources.of({
        requireAgent: () => Effect.void,
        conversation: () => unavailable,
        changes: () => unavailable,
        gateLogs: () => Effect.succeed([]),
        preview: (_, guidance) => guidance,
        describe: ({ _tag }) => ({ line: _tag, isDetail: false }),
        user: "ada",
        ...given
      })
    )
  ).pipe(
    Layer.provideMerge(Messenger.layer),
    Layer.provideMerge(MemoryBroker.layer),
    Layer.provideMerge(ActorConfig.layer({ prefix: "t" }))
  )

/** The address of the console, and the link that signs in. */
export const openGate = Effect.gen(function* () {
  const port = yield* serveConsole({ port: 0, token: Redacted.make(token), pages: yield* consolePages() })
  const address = `http://127.0.0.1:${port}`
  return { address, link: `${address}/#token=${token}` }
})

/** Waits until those who hear the page are told so. */
export const hears = (page: Page, text: string | RegExp) =>
  act(() => page.locator("[data-announcer]").getByText(text).waitFor({ state: "attached" }))
