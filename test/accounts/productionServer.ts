/** A nats-server with the configuration of the cluster: keys and certificates as deploy/nats makes them, on a free port. */
import { spawn } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeKeys } from "@reprise/deploy-nats/keys"
import { type Identity, inboxOf, locateServer, Nats } from "@reprise/nats"
import { Effect, Schema } from "effect"
import { waitUntil } from "../harness/waitUntil.ts"

const source = new URL("../../deploy/kubernetes/overlays/nats/", import.meta.url).pathname

/** One server is not a cluster, and ports of a pod are not free here. */
const alone = (configuration: string): string =>
  configuration
    .replace(/^cluster \{[\s\S]*?^\}\n/m, "")
    .replace(/^(http_port|pid_file): .*\n/gm, "")
    .replace(/^port: .*$/m, "port: -1")

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-keys-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
)

const Ports = Schema.fromJsonString(Schema.Struct({ nats: Schema.NonEmptyArray(Schema.URLFromString) }))
const decodePorts = Schema.decodeUnknownOption(Ports)

const readText = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** As the environment of the servers has them. */
export const publicKeysIn = (keys: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(join(keys, "public.env"), "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split("=", 2) as [string, string])
  )

/** Changes the configuration of the accounts, to see what a mistake in it leads to. */
type Edit = (accounts: string) => string

/** Ends with the scope. `keys`: the folder with the seeds and `ca.crt`. */
export const productionServer = Effect.fnUntraced(function* (edit: Edit = (accounts) => accounts) {
  const binary = yield* locateServer()
  const folder = yield* temporaryFolder
  const keys = join(folder, "keys")
  makeKeys(keys)
  const configuration = join(folder, "configuration")
  cpSync(source, configuration, { recursive: true })
  const [main, accounts] = [join(configuration, "nats.conf"), join(configuration, "accounts.conf")]
  writeFileSync(main, alone(readFileSync(main, "utf8")))
  writeFileSync(accounts, edit(readFileSync(accounts, "utf8")))
  const log = join(folder, "server.log")
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(binary.path, ["--config", main, "--ports_file_dir", folder, "--log", log, "--trace"], {
        stdio: "ignore",
        env: {
          POD_NAME: "nats-0",
          NATS_STORE: join(folder, "store"),
          NATS_TLS_CERTIFICATE: join(keys, "server.crt"),
          NATS_TLS_KEY: join(keys, "server.key"),
          NATS_TLS_CA: join(keys, "ca.crt"),
          ...publicKeysIn(keys)
        }
      })
    ),
    (child) => Effect.sync(() => void child.kill("SIGKILL"))
  )
  const { nats } = yield* waitUntil(
    Effect.suspend(() => {
      if (server.exitCode !== null) return Effect.die(new Error(`nats-server ended: ${readText(log).slice(-1000)}`))
      const ports = decodePorts(readText(join(folder, `nats-server_${server.pid}.ports`)))
      return Effect.succeed(ports._tag === "Some" ? ports.value : undefined)
    })
  )
  const url = `nats://127.0.0.1:${nats[0].port}`
  const connectAs = (name: string, inboxPrefix: string) =>
    Nats.make({
      url,
      name,
      identity: name,
      inboxPrefix,
      credentials: { _tag: "SeedFile", path: join(keys, `${name}.nk`) },
      tls: { caFile: join(keys, "ca.crt") }
    })
  const connect = (identity: Identity) => connectAs(identity, inboxOf(identity))
  /** Who reads the servers' statistics. */
  const connectSystem = connectAs("system", inboxOf("person"))
  return { url, keys, connect, connectSystem, log: () => readText(log) }
})
