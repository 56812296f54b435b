/** Connections to the broker that a world's commands run for themselves. */
import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { attach, connectionTo, type Identity, Nats } from "@reprise/nats"
import { Effect, Redacted } from "effect"
import type { World } from "./World.ts"

/** Where this machine keeps what it decided for the user of a world. */
export const userFolderOf = ({ environment }: Pick<World, "environment">): string =>
  join(environment["XDG_CONFIG_HOME"] ?? join(environment["HOME"] ?? "", ".config"), "reprise")

/** What a service and the operator must know on this machine. Every version of Reprise makes it in the same way. */
export const brokerSecretOf = (world: World) =>
  Redacted.make(
    createHmac("sha256", readFileSync(join(userFolderOf(world), "machine.key"), "utf8"))
      .update(JSON.stringify(["reprise-secret", 1, "embedded broker"]))
      .digest("hex")
  )

/** As a program of the same user connects that knows this machine's key too; for a person `endpoint.json` is enough. */
export const connectAs = Effect.fnUntraced(function* (world: World, identity: Identity) {
  const endpoint = yield* attach(join(world.root, ".reprise"))
  const secret = identity === "person" ? {} : { secret: brokerSecretOf(world) }
  return yield* Nats.make(connectionTo(endpoint, { name: "somebody", identity, ...secret }))
})
