/**
 * A thousand open questions in the web console: how long the gate takes to list them, how long a page takes until they
 * are there and a key is obeyed, and a question until it is on the page, compared with the same without questions. The gate, the broker and the browser are
 * real.
 */
import { ActorConfig, JetStreamBroker, Messenger } from "@reprise/actor"
import { layer as gate } from "@reprise/gate"
import { serveConsole } from "@reprise/gate/console"
import { ensureStreams, Nats } from "@reprise/nats"
import { EscalationId, PhaseId, RunId, to } from "@reprise/protocol"
import { localBroker, Broker as Server } from "@reprise/testing"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { consolePages } from "../../cli/src/flows/console/consolePages.ts"
import { act, openPage, startBrowser } from "../harness/browser.ts"
import { signIn } from "../harness/consoleClient.ts"
import { sourcesWith } from "../harness/gateConsole.ts"
import { figuresOf, milliseconds } from "./figures.ts"

const count = 1_000
const repeats = 30
const arriving = 10
const token = "a token of this benchmark"
const say = (line: string) => process.stdout.write(`${line}\n`)

const world = Layer.unwrap(
  Effect.map(Server, ({ url }) =>
    Layer.merge(gate, sourcesWith()).pipe(
      Layer.provideMerge(Messenger.layer),
      Layer.provideMerge(JetStreamBroker.layer),
      Layer.provideMerge(Layer.effectDiscard(ensureStreams("bench", { storageBytes: 2 * 1024 ** 3 }))),
      Layer.provideMerge(Nats.layer({ url, name: "many-questions" })),
      Layer.provideMerge(ActorConfig.layer({ prefix: "bench" }))
    )
  )
).pipe(Layer.provide(localBroker))

const ask = (n: number) => {
  const escalationId = EscalationId.make(`r${n}-e1`)
  return Messenger.use(({ send }) =>
    send(
      to.gate(escalationId).RaiseEscalation({
        runId: RunId.make(`r${n}`),
        phase: PhaseId.make("2"),
        step: "EXECUTE",
        origin: "author",
        reason: `Question ${n}: which of the two ways? ${"The plan names neither of them. ".repeat(20)}`,
        options: [{ name: "fix", label: "fix in new session", keys: ["f"], guidance: "optional" }],
        evidence: { planTitle: "A plan", phaseTitle: "The client", lastLines: "x".repeat(4_000) }
      })
    )
  )
}

const areOpen = Messenger.use(({ list }) => list.gate({ state: "open" })).pipe(
  Effect.repeat({ until: (open) => open.length >= count + arriving, schedule: Schedule.spaced("200 millis") })
)

const timed = async <A>(does: () => Promise<A>): Promise<number> => {
  const began = performance.now()
  await does()
  return performance.now() - began
}

const listing = (address: string) =>
  Effect.gen(function* () {
    const headers = yield* signIn(address, token)
    const times: Array<number> = []
    for (let n = 0; n < repeats; n++) {
      times.push(yield* act(() => timed(async () => (await fetch(`${address}/api/questions`, { headers })).text())))
    }
    return figuresOf(times)
  })

/** From the start of the navigation until the list is shown and a key opens a question. */
const page = (browser: Effect.Success<typeof startBrowser>, address: string, isEmpty: boolean) =>
  Effect.gen(function* () {
    // A telephone's width: a wide screen opens the first question by itself.
    const { page: shown } = yield* openPage(browser, { viewport: { width: 360, height: 800 } })
    const ms = yield* act(() =>
      timed(async () => {
        await shown.goto(`${address}/#token=${token}`)
        await shown.getByRole("heading", { name: isEmpty ? "Nothing needs you" : `${count + arriving} open` }).waitFor()
        if (isEmpty) return
        await shown.keyboard.press("s")
        await shown.waitForURL(`${address}/questions/*`)
      })
    )
    return ms
  }).pipe(Effect.scoped)

const pages = (browser: Effect.Success<typeof startBrowser>, address: string, isEmpty: boolean) =>
  Effect.map(
    Effect.forEach(Array.from({ length: 5 }), () => page(browser, address, isEmpty)),
    figuresOf
  )

/** From the command that raises a question until its words are on an open page. */
const arrivals = (browser: Effect.Success<typeof startBrowser>, address: string) =>
  Effect.gen(function* () {
    const { page: shown } = yield* openPage(browser, { viewport: { width: 360, height: 800 } })
    yield* act(() => shown.goto(`${address}/#token=${token}`))
    yield* act(() => shown.getByText("Live", { exact: true }).waitFor({ state: "attached" }))
    const times = yield* Effect.forEach(Array.from({ length: arriving }), (_, n) =>
      Effect.gen(function* () {
        const began = performance.now()
        yield* ask(count + n)
        yield* act(() =>
          shown
            .getByText(`Question ${count + n}:`)
            .first()
            .waitFor()
        )
        return performance.now() - began
      })
    )
    return figuresOf(times)
  }).pipe(Effect.scoped)

export const manyQuestions = (): Promise<void> =>
  Effect.gen(function* () {
    const port = yield* serveConsole({ port: 0, token: Redacted.make(token), pages: yield* consolePages() })
    const address = `http://127.0.0.1:${port}`
    const browser = yield* startBrowser
    say(
      `no questions: list ${milliseconds(yield* listing(address))}, page ${milliseconds(yield* pages(browser, address, true))}`
    )
    say(`a question that is raised is on an open page after ${milliseconds(yield* arrivals(browser, address))}`)
    yield* Effect.forEach(Array.from({ length: count }), (_, n) => ask(n), { concurrency: 50, discard: true })
    yield* areOpen
    say(
      `${count} questions: list ${milliseconds(yield* listing(address))}, page ${milliseconds(yield* pages(browser, address, false))}`
    )
  }).pipe(Effect.scoped, Effect.provide(world), Effect.runPromise)
