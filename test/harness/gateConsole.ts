/**
 * The web console over the gate alone, in this process, on a broker in memory: questions are raised by command, and what
 * lies on a host is what the test says. It needs no agent. The gate, its HTTP side, the pages and the browser are
 * real.
 */
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { layer as gate, layerWith } from "@reprise/gate"
import {
  type ConsoleOptions,
  ConsoleSources,
  type RepositorySources,
  serveConsole,
  Unavailable
} from "@reprise/gate/console"
import { EscalationId, PhaseId, RunId, to } from "@reprise/protocol"
import { Effect, Layer, Redacted } from "effect"
import type { Page } from "playwright-core"
import { consolePages } from "../../cli/src/flows/console/consolePages.ts"
import { act } from "./browser.ts"

export const token = "the token of this test"
const unavailable = Effect.fail(new Unavailable({ code: "not-here", message: "Not here.", hint: "Look elsewhere." }))

/** Of no repository, but for what is given. */
export const sourcesWith = (given: Partial<ConsoleSources["Service"]> = {}) =>
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

/** A repository without plans, in which nothing can be started. */
export const emptyRepository: RepositorySources = {
  plans: Effect.succeed([]),
  dryRun: () => unavailable,
  start: () => unavailable,
  fork: () => unavailable,
  settings: Effect.succeed([])
}

/** The gate, and what its console shows of a host. `notify`: whom it tells besides. */
export const gateWith = (given: Partial<ConsoleSources["Service"]> = {}, notify?: Parameters<typeof layerWith>[0]) =>
  Layer.merge(notify === undefined ? gate : layerWith(notify), sourcesWith(given)).pipe(
    Layer.provideMerge(Messenger.layer),
    Layer.provideMerge(MemoryBroker.layer),
    Layer.provideMerge(ActorConfig.layer({ prefix: "t" }))
  )

/** Until the scope closes. Gives the port and the address of the console, and the link that signs in. */
export const openGate = Effect.fnUntraced(function* (options: Partial<ConsoleOptions> = {}) {
  const port = yield* serveConsole({ port: 0, token: Redacted.make(token), pages: yield* consolePages(), ...options })
  const address = options.origin ?? `http://127.0.0.1:${port}`
  return { port, address, link: `${address}/#token=${token}` }
})

/** Raises a question of a run of its own. */
export const raise = (name: string, reason: string) => {
  const escalationId = EscalationId.make(`${name}-e1`)
  return Messenger.use(({ send }) =>
    send(
      to.gate(escalationId).RaiseEscalation({
        runId: RunId.make(name),
        phase: PhaseId.make("1"),
        step: "EXECUTE",
        origin: "author",
        reason,
        options: [{ name: "fix", label: "fix in new session", keys: ["f"], guidance: "optional" }],
        evidence: { planTitle: "A plan", phaseTitle: "One" }
      })
    )
  ).pipe(Effect.as(escalationId))
}

/** Somebody answers it at a terminal. */
export const answerElsewhere = (name: string) =>
  Messenger.use(({ send }) =>
    send(to.gate(EscalationId.make(`${name}-e1`)).AnswerEscalation({ choice: "fix", by: "bob", via: "cli" }))
  )

/** Waits until the page has announced it to screen readers. */
export const hears = (page: Page, text: string | RegExp) =>
  act(() => page.locator("[data-announcer]").getByText(text).waitFor({ state: "attached" }))
