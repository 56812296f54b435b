import { execFile } from "node:child_process"
import { homedir } from "node:os"
import { Effect, Option } from "effect"
import { pingEngine } from "./pingEngine.ts"

/** An engine that can be used: one that runs already, or a podman for which a private service can be started. */
export type EngineSource =
  | { readonly _tag: "Running"; readonly kind: "docker" | "podman"; readonly host: string }
  | { readonly _tag: "Podman" }

/** What is printed when container tests are left out. */
export const skippedNotice = "container tests: skipped, no engine"

const sockets = (environment: NodeJS.ProcessEnv): ReadonlyArray<string> => [
  ...(environment.DOCKER_HOST === undefined ? [] : [environment.DOCKER_HOST]),
  "unix:///var/run/docker.sock",
  ...(environment.XDG_RUNTIME_DIR === undefined ? [] : [`unix://${environment.XDG_RUNTIME_DIR}/docker.sock`]),
  `unix://${homedir()}/.docker/run/docker.sock`,
  `unix://${homedir()}/.docker/desktop/docker.sock`
]

/** Whether a podman is installed that works for this user on this system. */
const podmanWorks = (env: NodeJS.ProcessEnv): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const child = execFile("podman", ["info"], { timeout: 60_000, env }, (error) =>
      resume(Effect.succeed(error === null))
    )
    return Effect.sync(() => child.kill())
  })

/** Looks for an engine: DOCKER_HOST, the usual sockets, podman. Starts nothing. `REPRISE_TEST_ENGINE=none` hides them all. */
export const locateEngine = Effect.fn("locateEngine")(function* (environment: NodeJS.ProcessEnv = process.env) {
  if (environment["REPRISE_TEST_ENGINE"] === "none") return Option.none<EngineSource>()
  for (const host of sockets(environment)) {
    const kind = yield* pingEngine(host)
    if (Option.isSome(kind)) return Option.some<EngineSource>({ _tag: "Running", kind: kind.value, host })
  }
  return (yield* podmanWorks(environment)) ? Option.some<EngineSource>({ _tag: "Podman" }) : Option.none<EngineSource>()
})
