/** The server that `reprise run` starts for itself, in a folder of its own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connectionTo, EmbeddedServer, type Identity, Nats, readEndpoint } from "@reprise/nats"
import { Effect, Option, Redacted } from "effect"

/** Ends with the scope. A person knows what `endpoint.json` says, and everybody else the secret of this machine too. */
export const embeddedServer = Effect.fnUntraced(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-embedded-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  )
  const directory = join(folder, ".reprise")
  const secret = Redacted.make("of this machine")
  yield* EmbeddedServer.make({ directory, secret })
  const endpoint = Option.getOrThrow(yield* readEndpoint(directory))
  const connect = (identity: Identity) =>
    Nats.make(connectionTo(endpoint, { name: identity, identity, ...(identity === "person" ? {} : { secret }) }))
  return { directory, endpoint, connect }
})
