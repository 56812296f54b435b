/**
 * One container engine for all test files: a private podman service takes seconds to start, and one for each file makes
 * them all slow. A global setup of the vitest project `containers`.
 */
import { Effect, Exit, Option, Scope } from "effect"
import { containerEngine } from "./ContainerEngine.ts"

/** Starts the engine, if there is one, and names it to the test files; returns what stops it. */
export default async (): Promise<() => Promise<void>> => {
  const scope = Scope.makeUnsafe()
  const engine = await Effect.runPromise(Scope.provide(containerEngine(), scope))
  if (Option.isSome(engine)) Object.assign(process.env, engine.value.env)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
