// @module-tag long
/** A cluster with an identity for each service: real processes with a key each, on a server with TLS. */
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Identity } from "@reprise/nats"
import { startReceiver } from "@reprise/testing"
import { Effect } from "effect"
import { productionServer } from "../accounts/productionServer.ts"
import { oneQuestion, plan, script } from "../harness/modelScript.ts"
import { makeWorld, type World } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const services = ["orchestrator", "session-manager", "reviewer", "gate", "workspace"] as const

interface Server {
  readonly url: string
  readonly keys: string
  readonly log: () => string
}

const as = ({ keys, url }: Server, identity: Identity) => ({
  environment: {
    REPRISE_NATS_URL: url,
    REPRISE_NATS_NKEY_SEED_FILE: join(keys, `${identity}.nk`),
    REPRISE_NATS_CA_FILE: join(keys, "ca.crt")
  }
})

const violations = ({ log }: Server) => log().match(/.*Permissions? Violation.*/g) ?? []

/** A command that must succeed. */
const does = (world: World, server: Server, identity: Identity, ...args: ReadonlyArray<string>) =>
  world.repriseIn(as(server, identity), ...args).pipe(
    Effect.map(({ code, stderr, stdout }) => {
      assert.strictEqual(code, 0, `${args.join(" ")}: ${stdout}${stderr}`)
      return stdout
    })
  )

const worldOf = (model = script()) => makeWorld({ openCode: "shared", plan: plan("One"), script: model })

describe("on a cluster with an identity for each service", () => {
  it.live(
    "a run asks a person, is answered, completes, is looked at and pruned, on a host that is drained meanwhile, and nobody is refused anything",
    () =>
      Effect.gen(function* () {
        const server = yield* productionServer()
        const world = yield* makeWorld(oneQuestion)
        // A service may be started before the operator has made the streams.
        const early = yield* world.startIn(as(server, "gate"), "serve", "gate")
        yield* early.waitFor(/Waiting for 'reprise streams', as the operator/)
        assert.match(yield* does(world, server, "operator", "streams"), /REPRISE_JOURNAL: created/)
        yield* early.waitFor(/is ready/)
        const before = violations(server).length
        for (const service of services.filter((name) => name !== "gate")) {
          yield* (yield* world.startIn(as(server, service), "serve", service)).waitFor(/is ready/)
        }
        const run = yield* world.repriseIn(as(server, "person"), "run", "PLAN.md")
        assert.strictEqual(run.code, 4, run.stderr)
        const [question] = JSON.parse(yield* does(world, server, "person", "gate", "list", "--json")).data
        yield* does(world, server, "person", "gate", "show", question.escalationId)
        // The run's code is on this host alone: it stays, and goes on there.
        const drained = JSON.parse(yield* does(world, server, "person", "hosts", "drain", "local", "--json")).data
        assert.deepStrictEqual(drained.runs, [{ runId: question.runId, status: "waiting", fate: "stays" }])
        const [host] = JSON.parse(yield* does(world, server, "person", "hosts", "list", "--json")).data
        assert.deepInclude(host, { host: "local", hosted: true, drainedAt: drained.drainedAt, runs: [question.runId] })
        yield* does(
          world,
          server,
          "person",
          "gate",
          "answer",
          question.escalationId,
          "continue-session",
          "--guidance",
          "Blue"
        )
        const again = yield* world.repriseIn(as(server, "person"), "run", "PLAN.md")
        assert.strictEqual(again.code, 0, again.stderr)
        const { runId } = question
        yield* does(world, server, "person", "hosts", "drain", "local", "--undo")
        yield* does(world, server, "person", "status", runId)
        yield* does(world, server, "person", "summary", runId)
        yield* does(world, server, "person", "logs", runId)
        yield* does(world, server, "person", "dead-letters", "list")
        const [session] = JSON.parse(yield* does(world, server, "person", "sessions", "list", "--json")).data
        yield* does(world, server, "person", "sessions", "show", session.sessionId)
        yield* does(
          world,
          server,
          "person",
          "sessions",
          "export",
          session.sessionId,
          join(world.root, "..", "exported")
        )
        yield* does(world, server, "operator", "doctor", "--replay", runId)
        yield* does(world, server, "operator", "prune", "--days", "0", "--yes")
        assert.deepStrictEqual(violations(server).slice(before), [])
      })
  )

  it.live("the web console shows the question, takes answers of whom the proxy names and by the gate's links", () =>
    Effect.gen(function* () {
      const server = yield* productionServer()
      const receiver = yield* startReceiver()
      const world = yield* makeWorld(oneQuestion)
      yield* does(world, server, "operator", "streams")
      const shared = { REPRISE_WEB_ORIGIN: "https://reprise.example.com", REPRISE_WEB_ANSWER_KEY: "env:ANSWER_KEY" }
      const keys = { ...shared, ANSWER_KEY: "the key of the links of this test" }
      const hook = { preset: "webhook", url: `${receiver.url}/hook`, secret: "env:HOOK_SECRET" }
      for (const service of services) {
        const notify = { ...keys, HOOK_SECRET: "hush", REPRISE_NOTIFY_CHANNELS: JSON.stringify({ hook }) }
        const environment = { ...as(server, service).environment, ...(service === "gate" ? notify : {}) }
        yield* (yield* world.startIn({ environment }, "serve", service)).waitFor(/is ready/)
      }
      const before = violations(server).length
      const web = {
        REPRISE_WEB_PORT: "0",
        REPRISE_WEB_USER_HEADER: "X-Forwarded-Email",
        REPRISE_WEB_ANSWERERS: JSON.stringify(["ada@example.org"])
      }
      // A container's folder is not a repository.
      const console = yield* world.startIn(
        { directory: server.keys, environment: { ...as(server, "person").environment, ...keys, ...web } },
        "serve",
        "console"
      )
      const [, address = ""] = (yield* console.waitFor(/The web console is on (127\.0\.0\.1:\d+)/)) ?? []
      yield* console.waitFor(/console is ready/)
      const ask = (user: string, path: string, body?: object) =>
        Effect.promise(async () => {
          const response = await fetch(`http://${address}/api/${path}`, {
            headers: {
              ...(user === "" ? {} : { "x-forwarded-email": user }),
              ...(body === undefined ? {} : { "content-type": "application/json", origin: `http://${address}` })
            },
            ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) })
          })
          const { data, error } = JSON.parse(await response.text())
          return [response.status, data ?? error] as const
        })
      assert.strictEqual((yield* world.repriseIn(as(server, "person"), "run", "PLAN.md")).code, 4)
      assert.strictEqual((yield* ask("", "questions"))[0], 401)
      assert.deepStrictEqual(yield* ask("eve@example.org", "session"), [
        200,
        { role: "viewer", user: "eve@example.org", hasRepository: false }
      ])
      assert.strictEqual((yield* ask("ada@example.org", "plans"))[1].code, "no-repository")
      const [, [question]] = yield* ask("eve@example.org", "questions")
      const [seen, changes] = yield* ask("eve@example.org", `questions/${question.escalationId}/changes`)
      assert.strictEqual(seen, 200, changes.message)
      assert.include(changes.patch.text, "+phase 1 turn 1", "the host of the run shows its changes")
      assert.deepStrictEqual(yield* ask("eve@example.org", `questions/${question.escalationId}/logs`), [200, []])
      const path = `questions/${question.escalationId}/answer`
      const answer = { commandId: "answer-1", choice: "continue-session", guidance: "Blue" }
      assert.strictEqual((yield* ask("eve@example.org", path, answer))[0], 403)
      const told = yield* waitUntil(Effect.sync(() => receiver.requests.find((one) => one.path === "/hook")))
      const { link } = JSON.parse(told.body).answers.find((one: { choice: string }) => one.choice === answer.choice)
      const [origin, capability] = link.split("#")
      assert.strictEqual(origin, "https://reprise.example.com/answer")
      const byLink = { link: capability, commandId: "answer-2" }
      assert.deepStrictEqual(yield* ask("", "link/answer", byLink), [200, { state: "done" }])
      const [status, late] = yield* ask("ada@example.org", path, answer)
      assert.strictEqual(status, 409)
      assert.match(late.message, /someone in hook answered 'continue-session' through link/)
      const again = yield* world.repriseIn(as(server, "person"), "run", "PLAN.md")
      assert.strictEqual(again.code, 0, again.stderr)
      const [, sessions] = yield* ask("eve@example.org", `runs/${question.runId}/sessions`)
      const [, conversation] = yield* ask("eve@example.org", `sessions/${sessions[0].sessionId}/conversation`)
      assert.isNotEmpty(conversation.messages)
      assert.strictEqual((yield* console.kill("SIGTERM")).code, 0)
      assert.deepStrictEqual(violations(server).slice(before), [], "nobody is refused anything")
    })
  )

  it.live("a command that its identity may not do fails at once, and names the identity and the subject", () =>
    Effect.gen(function* () {
      const server = yield* productionServer()
      const world = yield* worldOf()
      yield* does(world, server, "operator", "streams")
      const pruned = yield* world.repriseIn(as(server, "person"), "prune", "--days", "0", "--yes", "--json")
      const { error } = JSON.parse(pruned.stdout)
      assert.strictEqual(pruned.code, 3)
      assert.strictEqual(error.code, "not-permitted")
      assert.match(error.message, /The identity 'operator' may not use '_INBOX_operator\.[^']+'/)
      const streams = yield* world.repriseIn(as(server, "gate"), "streams")
      assert.strictEqual(streams.code, 3)
      assert.match(streams.stderr, /The identity 'operator' may not use '[^']+'/)
    })
  )
})
