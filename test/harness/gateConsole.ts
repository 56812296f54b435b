/** The gate and its web console in this process, over a broker in memory: questions of any kind, without agents. */
import { ActorConfig, MemoryBroker, Messenger } from "@reprise/actor"
import { layer as gate } from "@reprise/gate"
import { type ConsoleOptions, ConsoleSources, serveConsole, Unavailable } from "@reprise/gate/console"
import { EscalationId, PhaseId, RunId, to } from "@reprise/protocol"
import { Effect, Layer, Redacted } from "effect"
import { consolePages } from "../../cli/src/flows/console/consolePages.ts"

const unavailable = Effect.fail(new Unavailable({ code: "not-here", message: "Not here.", hint: "Look elsewhere." }))

/** Of no repository. */
export const noSources = Layer.succeed(
  ConsoleSources,
  ConsoleSources.of({
    requireAgent: () => Effect.void,
    conversation: () => unavailable,
    changes: () => unavailable,
    gateLogs: () => Effect.succeed([]),
    preview: (_, guidance) => guidance,
    describe: ({ _tag }) => ({ line: _tag, isDetail: false }),
    user: "ada"
  })
)

export const gateWorld = Layer.merge(gate, noSources).pipe(
  Layer.provideMerge(Messenger.layer),
  Layer.provideMerge(MemoryBroker.layer),
  Layer.provideMerge(ActorConfig.layer({ prefix: "t" }))
)

const token = "the token of this test"

/** Until the scope closes. */
export const serveGate = Effect.fnUntraced(function* (options: Partial<ConsoleOptions> = {}) {
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
