// @module-tag long
/** A host whose agent is a program of its own, as on Kubernetes: it is ready only while that answers. */
import { assert, describe, it } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { Broker, localBroker } from "@reprise/testing"
import { Effect, Exit, Scope } from "effect"
import { on, plan } from "../harness/modelScript.ts"
import { ownOpenCodeAt, startOpenCode } from "../harness/ownOpenCode.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

const script = {
  rules: [on({ kind: "report" }, { report: { result: "complete" } }), on({}, [{ text: "It is done." }])]
}

const untilAnswer = (port: number, path: string, expected: RegExp) =>
  waitUntil(
    Effect.promise(async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      return expected.test(`${response.status} ${await response.text()}`) ? true : undefined
    }),
    "500 millis"
  )

describe("a host with an agent at a URL", () => {
  it.live("waits for it, takes no session meanwhile, takes it when the agent is there, and is unready without it", () =>
    Effect.gen(function* () {
      const agentPort = yield* freePort
      const port = yield* freePort
      const settings = ownOpenCodeAt(agentPort)
      const world = yield* makeWorld({ plan: plan("One"), script, environment: () => settings })
      const { url } = yield* Broker
      const environment = { REPRISE_HEALTH_ADDRESS: `127.0.0.1:${port}`, REPRISE_NATS_URL: url }
      const waits = new RegExp(`^503 waits for an agent that answers at ${settings.REPRISE_OPENCODE_URL}\n$`)
      const manager = yield* world.startIn({ environment }, "serve", "session-manager")
      yield* manager.waitFor(/session-manager waits for an agent that answers at/)
      yield* untilAnswer(port, "/readyz", waits)
      const workspacePort = yield* freePort
      const beside = {
        ...environment,
        REPRISE_HEALTH_ADDRESS: `127.0.0.1:${workspacePort}`,
        OPENCODE_SERVER_PASSWORD: ""
      }
      yield* (yield* world.startIn({ environment: beside }, "serve", "workspace")).waitFor(
        /workspace waits for an agent/
      )
      yield* untilAnswer(workspacePort, "/readyz", waits)
      for (const service of ["orchestrator", "gate"]) {
        yield* (yield* world.start("serve", service, "--nats", url)).waitFor(/is ready/)
      }
      const session = yield* world.start("sessions", "start", "Say hello.", "--json", "--nats", url)
      yield* untilAnswer(
        port,
        "/metrics",
        /^reprise_pending_messages\{service="session-manager",stream="work"\} [1-9]/m
      )
      const agent = yield* Scope.make()
      yield* Scope.provide(startOpenCode(world, agentPort), agent)
      for (const one of [port, workspacePort]) yield* untilAnswer(one, "/readyz", /^200 is ready/)
      const ended = yield* session.ended
      assert.strictEqual(ended.code, 0, ended.stderr)
      yield* Scope.close(agent, Exit.void)
      for (const one of [port, workspacePort]) yield* untilAnswer(one, "/readyz", waits)
      yield* startOpenCode(world, agentPort)
      yield* untilAnswer(port, "/readyz", /^200 is ready/)
      assert.strictEqual((yield* manager.kill("SIGTERM")).code, 0)
    }).pipe(Effect.provide(localBroker))
  )
})
