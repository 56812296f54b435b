// @module-tag long
/** The image that users build from deploy/Dockerfile (docs/kubernetes.md#the-images). */
import { assert, describe, layer } from "@effect/vitest"
import { freePort } from "@reprise/process"
import { Broker, hasContainerEngine, localBroker } from "@reprise/testing"
import { Effect } from "effect"
import { waitUntil } from "../harness/waitUntil.ts"
import { RepriseImage, repriseImage } from "./repriseImage.ts"

const hasEngine = await Effect.runPromise(hasContainerEngine)
const megabyte = 1_000_000

/** Runs in the image: what is there, who we are, and what can be written. */
const look = `
const { existsSync, readdirSync, writeFileSync } = require("node:fs")
const writes = ["/", "/opt", "/opt/reprise/package"].filter((folder) => {
  try { writeFileSync(folder + "/probe", ""); return true } catch { return false }
})
const files = readdirSync("/opt/reprise", { recursive: true })
const shell = ["/bin/sh", "/bin/bash", "/bin/busybox"].filter((path) => existsSync(path))
console.log("seen " + JSON.stringify({ ids: [process.getuid(), process.getgid()], writes, shell, root: readdirSync("/").sort(), files }))
`

const says = (port: number, expected: string) =>
  Effect.promise(() =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      async (response) => ((await response.text()).trim() === expected ? true : undefined),
      () => undefined
    )
  )

interface Needs {
  readonly environment: Readonly<Record<string, string>>
  /** How far it comes: the image has no agent. */
  readonly says: string
}

/** What a service needs beyond the broker. */
const needs: Readonly<Record<string, Needs>> = {
  orchestrator: { environment: {}, says: "is ready" },
  reviewer: { environment: {}, says: "is ready" },
  gate: { environment: {}, says: "is ready" },
  workspace: { environment: { REPRISE_HOST: "host-0" }, says: "is ready" },
  "session-manager": {
    environment: { REPRISE_HOST: "host-0", REPRISE_OPENCODE_URL: "http://127.0.0.1:1" },
    says: "waits for an agent that answers at http://127.0.0.1:1"
  }
}

describe.skipIf(!hasEngine)("the image", () => {
  layer(repriseImage, { excludeTestServices: true, timeout: "10 minutes" })((it) => {
    it.effect("shows the help of the command, as nobody and on a read-only root", () =>
      Effect.gen(function* () {
        const { start } = yield* RepriseImage
        const help = yield* (yield* start([])).ended
        assert.strictEqual(help.code, 0, help.output)
        assert.match(help.output, /serve +Run one service/)
      })
    )

    it.effect("holds the package and nothing of its build, writes nowhere, and needs no shell", () =>
      Effect.gen(function* () {
        const { start } = yield* RepriseImage
        const seen = yield* (yield* start(["-e", look], { entrypoint: ["node"] })).ended
        assert.strictEqual(seen.code, 0, seen.output)
        const { files, ids, root, shell, writes } = JSON.parse(seen.output.replace(/^seen /, ""))
        assert.deepStrictEqual(ids, [65_532, 65_532])
        assert.deepStrictEqual(writes, [])
        assert.deepStrictEqual(shell, [], "the base of this test has none, and the build did not need one")
        assert.deepStrictEqual(
          files.filter((file: string) => /\.tgz$|node_modules|\.ts$/.test(file)),
          []
        )
        assert.include(files, "package/nats.conf")
        assert.notIncludeMembers(root, ["dist", "package", "src", "deploy"])
      })
    )

    it.effect("adds less than 300 MB to its base", () =>
      Effect.gen(function* () {
        const { base, image } = yield* (yield* RepriseImage).sizes
        assert.isAbove(image, base)
        assert.isBelow(image - base, 300 * megabyte)
      })
    )

    for (const [service, { environment, says: expected }] of Object.entries(needs)) {
      it.effect(`runs the ${service} until SIGTERM, and exits with 0`, () =>
        Effect.gen(function* () {
          const { start } = yield* RepriseImage
          const { url } = yield* Broker
          const port = yield* freePort
          const running = yield* start(["serve", service], {
            environment: {
              ...environment,
              REPRISE_NATS_URL: url,
              REPRISE_HEALTH_ADDRESS: `127.0.0.1:${port}`
            }
          })
          const early = Effect.flatMap(running.ended, ({ output }) => Effect.die(new Error(`it ended: ${output}`)))
          yield* Effect.raceFirst(waitUntil(says(port, expected)), early)
          const ended = yield* running.stop
          assert.strictEqual(ended.code, 0, ended.output)
        }).pipe(Effect.provide(localBroker))
      )
    }
  })
})
