/** The console's HTTP side over a broker in memory, and a client that may say anything. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ActorConfig, drain, MemoryBroker, Messenger } from "@reprise/actor"
import { ConsoleSignedIn, EscalationId, RunId, SessionId, to } from "@reprise/protocol"
import { Effect, Layer, Redacted, Schema } from "effect"
import { layer as service } from "../../src/service.ts"
import {
  type ConsoleOptions,
  ConsoleSources,
  NotPossible,
  serveConsole,
  Unavailable
} from "../../src/work/console/serveConsole.ts"
import { question } from "../fixtures.ts"

export const token = "secret-token-of-the-test"

export const sources = Layer.succeed(
  ConsoleSources,
  ConsoleSources.of({
    requireAgent: (_question, { runtime }) =>
      runtime === "absent"
        ? Effect.fail(new Unavailable({ code: "agent-not-set-up", message: "Not installed.", hint: "Install it." }))
        : Effect.void,
    conversation: () => Effect.fail(new Unavailable({ code: "not-saved", message: "Not yet.", hint: "Wait." })),
    changes: () =>
      Effect.succeed({
        commits: [],
        untracked: [],
        files: [],
        more: { commits: 0, untracked: 0, files: 0, added: 0, removed: 0 },
        patch: { name: "changes", text: "", omitted: 0 }
      }),
    gateLogs: () => Effect.succeed([]),
    preview: (_question, guidance) => `Guidance:\n${guidance}`,
    repository: {
      plans: Effect.succeed([{ path: "PLAN.md", title: "A plan", phases: [{ id: "1", title: "First", done: false }] }]),
      // One that takes as long as whoever asks waits.
      dryRun: ({ plan }) =>
        plan === "NEVER.md" ? Effect.never : Effect.succeed({ text: `would run ${plan}`, warnings: [] }),
      start: ({ commandId, plan }) =>
        plan === "PLAN.md"
          ? Effect.succeed({ runId: RunId.make(`r-${commandId}`), state: "done" })
          : Effect.fail(
              new NotPossible({ code: "plan-missing", message: `There is no plan at ${plan}.`, hint: "Look." })
            ),
      fork: ({ escalationId }, { at = 1, commandId }) =>
        Effect.succeed({ sessionId: SessionId.make(`f-${commandId}`), branch: `reprise/f-${escalationId}`, turn: at }),
      settings: Effect.succeed([
        { setting: "runtime", value: "claude", source: "reprise.toml", from: "reprise.toml", description: "The agent." }
      ])
    },
    describe: ({ _tag }) => ({ line: _tag, isDetail: false }),
    user: "ada"
  })
)

export const world = Layer.mergeAll(service, sources).pipe(
  Layer.provideMerge(Messenger.layer),
  Layer.provideMerge(MemoryBroker.layer),
  Layer.provideMerge(ActorConfig.layer({ prefix: "t" }))
)

export const pages = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "reprise-pages-"))
    mkdirSync(join(folder, "assets"))
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>The page</title>")
    writeFileSync(join(folder, "assets", "main-abc.js"), "export {}")
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

interface Reply {
  readonly status: number
  readonly headers: NodeJS.Dict<string | ReadonlyArray<string>>
  readonly text: string
}

export type Headers = Readonly<Record<string, string>>

const SignedIn = Schema.fromJsonString(Schema.Struct({ data: ConsoleSignedIn }))
const readSignedIn = Schema.decodeUnknownSync(SignedIn)
/** The session that the console answers a token with. */
export const sessionIn = (reply: string): string => readSignedIn(reply).data.session

/** A client that may say anything, which `fetch` may not. */
const makeClient = (port: number) => {
  const send = (method: string, path: string, headers: Headers = {}, body?: string) =>
    Effect.callback<Reply>((resume) => {
      const sent = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (part) => {
          text += part
        })
        response.on("end", () =>
          resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, text }))
        )
      })
      sent.on("error", (error) => resume(Effect.die(error)))
      sent.end(body)
    })
  const origin = `http://127.0.0.1:${port}`
  const own = { origin, "content-type": "application/json" }
  const signInWith = (given: string) =>
    Effect.map(send("POST", "/api/session", own, JSON.stringify({ token: given })), ({ text }) => sessionIn(text))
  return { send, own, signIn: signInWith(token), signInWith, origin }
}

export const openWith = Effect.fnUntraced(function* (options: Partial<ConsoleOptions>) {
  const port = yield* serveConsole({ port: 0, token: Redacted.make(token), pages: yield* pages, ...options })
  return { port, ...makeClient(port) }
})
export const opened = openWith({})

let asked = 0
/** Raises a question of a run of its own. */
export const ask = Effect.gen(function* () {
  const run = `run-${++asked}`
  const escalationId = EscalationId.make(`${run}-e1`)
  const { _tag, escalationId: _id, ...body } = question({ runId: RunId.make(run), escalationId })
  yield* Messenger.use(({ send }) => send(to.gate(escalationId).RaiseEscalation(body)))
  return escalationId
})

/** The same, and all that follows from it is done. */
export const raise = Effect.tap(ask, () => drain)
