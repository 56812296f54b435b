/** The keys and certificates of a cluster as deploy/nats makes them: on volumes, of which each container gets its own. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeKeys } from "@reprise/deploy-nats/keys"
import { type Identity, identities, inboxOf, Nats } from "@reprise/nats"
import { Effect } from "effect"
import { publicKeysIn } from "../../accounts/productionServer.ts"

/** The volumes by their names, each with the files that it holds before anything runs. */
export type Volumes = Readonly<Record<string, Readonly<Record<string, string>>>>

const keyOf = (identity: Identity) => `key-of-${identity}`

/** What a program gets to log in: two volumes by their paths, and variables that lead to what is on them. */
export const loginOf = (identity: Identity) => ({
  files: { "/etc/reprise/key": keyOf(identity), "/etc/reprise/nats": "nats-authority" },
  environment: {
    REPRISE_NATS_NKEY_SEED_FILE: "/etc/reprise/key/seed",
    REPRISE_NATS_CA_FILE: "/etc/reprise/nats/ca.crt"
  }
})

export interface ClusterKeys {
  readonly volumes: Volumes
  /** As the environment of the NATS servers has them. */
  readonly publicKeys: Readonly<Record<string, string>>
  /** A connection of this process. Closes with the scope. */
  readonly connect: (identity: Identity, url: string | ReadonlyArray<string>) => ReturnType<typeof Nats.make>
}

/** The folder with them is removed with the scope. */
export const clusterKeys = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-cluster-keys-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  makeKeys(folder)
  const read = (name: string) => readFileSync(join(folder, name), "utf8")
  const seeds = identities.map((identity) => [keyOf(identity), { seed: read(`${identity}.nk`) }] as const)
  return {
    volumes: {
      ...Object.fromEntries(seeds),
      "nats-authority": { "ca.crt": read("ca.crt") },
      "nats-tls": { "tls.crt": read("server.crt"), "tls.key": read("server.key"), "ca/ca.crt": read("ca.crt") }
    },
    publicKeys: publicKeysIn(folder),
    connect: (identity, url) =>
      Nats.make({
        url,
        name: "test",
        identity,
        inboxPrefix: inboxOf(identity),
        credentials: { _tag: "SeedFile", path: join(folder, `${identity}.nk`) },
        tls: { caFile: join(folder, "ca.crt") },
        reconnectWaitMs: 50
      })
  } satisfies ClusterKeys
})
