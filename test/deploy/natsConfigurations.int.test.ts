/** The configurations of NATS servers in deploy, as nats-server reads them. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { makeKeys } from "@reprise/deploy-nats/keys"
import { locateServer } from "@reprise/nats"
import { runProgram } from "@reprise/process"
import { Effect } from "effect"
import { publicKeysIn } from "../accounts/productionServer.ts"

const deploy = new URL("../../deploy/", import.meta.url).pathname
const read = (path: string) => readFileSync(join(deploy, path), "utf8")
const configurations = {
  "of the cluster": () => read("kubernetes/overlays/nats/nats.conf"),
  "of deploy/compose.yaml": () => read("compose.nats.conf")
}

/** Whether nats-server would start with it, and what it says. */
const check = Effect.fnUntraced(function* (configuration: string) {
  const server = yield* locateServer()
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-nats-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const keys = join(folder, "keys")
  mkdirSync(keys)
  makeKeys(keys)
  writeFileSync(join(folder, "nats.conf"), configuration)
  writeFileSync(join(folder, "accounts.conf"), read("kubernetes/overlays/nats/accounts.conf"))
  const { exitCode, stderr, stdout } = yield* runProgram({
    program: server.path,
    args: ["--config", join(folder, "nats.conf"), "-t"],
    environment: {
      POD_NAME: "nats-0",
      NATS_STORE: "/data",
      NATS_TLS_CERTIFICATE: join(keys, "server.crt"),
      NATS_TLS_KEY: join(keys, "server.key"),
      NATS_TLS_CA: join(keys, "ca.crt"),
      ...publicKeysIn(keys)
    },
    timeoutMs: 60_000
  })
  return { exitCode, says: `${stdout}${stderr}` }
})

describe("the configuration of the NATS server", () => {
  for (const [of, text] of Object.entries(configurations)) {
    it.effect(`${of} is accepted by nats-server`, () =>
      Effect.gen(function* () {
        const { exitCode, says } = yield* check(text())
        assert.strictEqual(exitCode, 0, says)
      })
    )

    it.effect(`${of} is refused with a misspelt limit`, () =>
      Effect.gen(function* () {
        const { exitCode, says } = yield* check(text().replace("max_connections", "max_connection"))
        assert.strictEqual(exitCode, 1, says)
      })
    )
  }
})
