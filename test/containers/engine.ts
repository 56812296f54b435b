/**
 * Finds the container engine of this machine. `node test/containers/engine.ts` prints the engine that the container
 * tests would use.
 */
import { containerEngine, skippedNotice } from "@reprise/testing"
import { Effect, Option } from "effect"

export { containerEngine } from "@reprise/testing"

const describe = Effect.map(
  containerEngine(),
  Option.match({
    onNone: () => skippedNotice,
    onSome: ({ kind, env }) => `container tests: ${kind} at ${env.DOCKER_HOST}`
  })
)

if (import.meta.main) {
  process.stdout.write(`${await Effect.runPromise(Effect.scoped(describe))}\n`)
}
