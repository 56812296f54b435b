import { tmpdir } from "node:os"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, type Option, RcRef, Schedule, Scope } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { pingEngine } from "./pingEngine.ts"

/** A plain runtime and modest limits, which also work for root inside a container. */
const configuration = (hasRunc: boolean) =>
  [
    "[containers]",
    'default_ulimits = ["nofile=20000:20000", "nproc=4096:4096"]',
    "[engine]",
    ...(hasRunc ? ['runtime = "runc"'] : []),
    ""
  ].join("\n")

/** The same path whenever this process starts a service, because container clients keep the first one they saw. */
const directory = `${tmpdir()}/reprise-podman-${process.pid}`

const acquire = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  yield* Effect.acquireRelease(fs.makeDirectory(directory, { recursive: true, mode: 0o700 }), () =>
    fs.remove(directory, { recursive: true, force: true }).pipe(Effect.ignore)
  )
  const config = `${directory}/containers.conf`
  const candidates = yield* Effect.forEach(["/usr/bin/runc", "/usr/sbin/runc", "/usr/local/bin/runc"], fs.exists)
  yield* fs.writeFileString(config, configuration(candidates.includes(true)))
  const host = `unix://${directory}/podman.sock`
  yield* spawner.spawn(
    ChildProcess.make("podman", ["system", "service", "--time=0", host], {
      extendEnv: true,
      env: { CONTAINERS_CONF: process.env.CONTAINERS_CONF ?? config },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      forceKillAfter: "5 seconds"
    })
  )
  yield* pingEngine(host).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "3 minutes" })))
  )
  return host
}).pipe(Effect.provide(NodeServices.layer))

/** One service per process, started for its first user and ended, by its process id, after the last. */
const shared = Effect.runSync(RcRef.make({ acquire }).pipe(Effect.provideService(Scope.Scope, Scope.makeUnsafe())))

/** The address of a private podman service, which lives as long as somebody's scope needs it. None if it fails. */
export const privatePodman: Effect.Effect<Option.Option<string>, never, Scope.Scope> = RcRef.get(shared).pipe(
  Effect.tapError((error) =>
    Effect.logWarning(`podman is installed, but its service does not start: ${error.message}`)
  ),
  Effect.option
)
