/** Services as processes of their own, as in containers: what their probes are told, and how they end. */
import { assert, describe, it } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { Broker, localBroker } from "@reprise/testing"
import { Effect } from "effect"
import { heldInMidTurn, plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const services = ["orchestrator", "session-manager", "reviewer", "gate", "workspace"]

/** Undefined: nobody answers. */
const probe = (port: number, path: string) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      async (response) => `${response.status} ${(await response.text()).trim()}`,
      () => undefined
    )
  )

const untilAnswer = (port: number, path: string, expected: RegExp) =>
  waitUntil(Effect.map(probe(port, path), (text) => (text !== undefined && expected.test(text) ? text : undefined)))

describe("reprise serve", () => {
  it.live("says what it waits for, is ready when it can work, and exits with 0 on SIGTERM", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const broker = yield* Broker
      yield* broker.kill
      const port = yield* freePort
      // Of a cluster's servers only one answers.
      const servers = `nats://127.0.0.1:1,${broker.url}`
      const environment = { REPRISE_HEALTH_ADDRESS: `127.0.0.1:${port}`, REPRISE_NATS_URL: servers }
      const gate = yield* world.startIn({ environment }, "serve", "gate")
      yield* untilAnswer(port, "/readyz", /^503 waits for a NATS server that answers$/)
      assert.strictEqual(yield* probe(port, "/livez"), "200 lives")
      yield* broker.start
      yield* untilAnswer(port, "/readyz", /^200 is ready$/)
      yield* broker.kill
      yield* untilAnswer(port, "/readyz", /^503 waits for its connection to the NATS server, which is lost$/)
      assert.strictEqual(yield* probe(port, "/livez"), "200 lives", "a restart would not help")
      yield* broker.start
      yield* untilAnswer(port, "/readyz", /^200 is ready$/)
      assert.match((yield* probe(port, "/elsewhere")) ?? "", /^404 /)
      yield* untilAnswer(
        port,
        "/metrics",
        /^200 [\s\S]*# TYPE reprise_questions_open gauge\nreprise_questions_open 0\n/
      )
      const ended = yield* gate.kill("SIGTERM")
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.strictEqual(yield* probe(port, "/livez"), undefined)
    }).pipe(Effect.provide(localBroker))
  )

  it.live("ends in time by SIGTERM also while no broker answers", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: script() })
      const broker = yield* Broker
      const environment = { REPRISE_NATS_URL: broker.url }
      const ready = yield* world.startIn({ environment }, "serve", "orchestrator")
      yield* ready.waitFor(/is ready/)
      yield* broker.pause
      const ended = yield* ready.kill("SIGTERM")
      assert.strictEqual(ended.code, 0, ended.stderr)
      yield* broker.resume
      yield* broker.kill
      const waiting = yield* world.startIn({ environment }, "serve", "orchestrator")
      yield* waiting.waitFor(/No NATS server answers/)
      assert.strictEqual((yield* waiting.kill("SIGTERM")).code, 0)
    }).pipe(Effect.provide(localBroker))
  )

  it.live(
    "hands its work back on SIGTERM: a turn goes on after the restart, and its prompt and its commit are not repeated",
    () =>
      Effect.gen(function* () {
        const world = yield* makeWorld({ openCode: "shared", plan: plan("One"), script: heldInMidTurn })
        const { url } = yield* Broker
        const serveAll = Effect.gen(function* () {
          const started = yield* Effect.forEach(services, (service) => world.start("serve", service, "--nats", url))
          for (const process of started) yield* process.waitFor(/is ready/)
          return started
        })
        const first = yield* serveAll
        const run = yield* world.start("run", "PLAN.md", "--nats", url)
        yield* world.model.awaitHeld("mid-turn")
        const ended = yield* Effect.forEach(first, (process) => process.kill("SIGTERM"), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          ended.map(({ code }) => code),
          services.map(() => 0),
          ended.map(({ stderr }) => stderr).join("\n")
        )
        yield* serveAll
        yield* world.model.release("mid-turn")
        const { code, stderr } = yield* run.ended
        assert.strictEqual(code, 0, stderr)
        const calls = (yield* world.model.calls).filter(({ kind, role }) => role === "author" && kind === "work")
        assert.strictEqual(calls.filter(({ round }) => round === 0).length, 1, "the call under way was not repeated")
        const prompts = calls.at(-1)?.messages.filter(({ role }) => role === "user") ?? []
        assert.strictEqual(prompts.length, 1, "the prompt was not sent twice")
        const commits = world.git("log", "--format=%s").split("\n")
        assert.strictEqual(commits.filter((subject) => subject === "Write it").length, 1)
      }).pipe(Effect.provide(localBroker))
  )
})
