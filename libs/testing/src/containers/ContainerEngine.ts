import { Context, Effect, Layer, Option, Schema } from "effect"
import { type EngineSource, locateEngine, skippedNotice } from "./locateEngine.ts"
import { privatePodman } from "./privatePodman.ts"

/** A container engine that answers, and the environment that leads testcontainers and the docker CLI to it. */
export interface Engine {
  readonly kind: "docker" | "podman"
  readonly env: Readonly<Record<string, string>>
}

export class NoContainerEngine extends Schema.TaggedError<NoContainerEngine>()("NoContainerEngine", {}) {
  override get message() {
    return "There is no container engine here: start Docker, set DOCKER_HOST, or install podman."
  }
}

const environment = (host: string): Engine["env"] => ({
  DOCKER_HOST: host,
  // Its clean-up container needs an image that may be missing; tests remove what they start with their scopes.
  TESTCONTAINERS_RYUK_DISABLED: "true",
  ...(host.startsWith("unix:") ? { TESTCONTAINERS_HOST_OVERRIDE: "127.0.0.1" } : {})
})

const open = Effect.fnUntraced(function* (source: EngineSource) {
  if (source._tag === "Running") return Option.some({ kind: source.kind, env: environment(source.host) })
  const host = yield* privatePodman
  return Option.map(host, (host): Engine => ({ kind: "podman", env: environment(host) }))
})

/**
 * The container engine of this machine: the one at DOCKER_HOST or a usual socket, else a private podman service that
 * ends with the scope, else none.
 */
export const containerEngine = Effect.fn("containerEngine")(function* () {
  const source = yield* locateEngine()
  return Option.isNone(source) ? Option.none<Engine>() : yield* open(source.value)
})

/**
 * Whether container tests can run here, for `skipIf` at the head of a test file. Prints that they are skipped, once,
 * when they cannot.
 */
export const hasContainerEngine: Effect.Effect<boolean> = Effect.gen(function* () {
  const engine = yield* Effect.scoped(containerEngine())
  if (Option.isNone(engine)) yield* Effect.sync(() => process.stdout.write(`${skippedNotice}\n`))
  return Option.isSome(engine)
})

/** The container engine as a service; the layer fails with `NoContainerEngine`. */
export class ContainerEngine extends Context.Service<ContainerEngine, Engine>()("testing/ContainerEngine") {
  static readonly layer: Layer.Layer<ContainerEngine, NoContainerEngine> = Layer.effect(
    ContainerEngine,
    Effect.flatMap(
      containerEngine(),
      Option.match({
        onNone: () => Effect.fail(new NoContainerEngine()),
        onSome: (engine) => Effect.succeed(ContainerEngine.of(engine))
      })
    )
  )
}
