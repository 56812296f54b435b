/**
 * The container engine of this machine. Run as a program it says which engine container tests would use:
 * `node test/containers/engine.ts`.
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
