/** A real server in a directory of its own, and verbs to treat it badly. Real clock: use with `it.live`. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Effect, Layer, Schedule, Schema } from "effect"
import {
  connectionTo,
  type EmbeddedOptions,
  EmbeddedServer,
  type EmbeddedServerShape,
  layerEmbeddedConnection
} from "../src/index.ts"
import { openTemplate } from "../src/testing.ts"

export const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "reprise-nats-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** The path of a state directory that does not exist yet. */
export const stateDirectory = Effect.map(temporaryDirectory, (directory) => join(directory, ".reprise"))

/** An embedded server and the operator's connection to it, both gone with the layer. Nobody is refused anything there. */
export const brokerLayer = (options: Partial<EmbeddedOptions> = {}) =>
  Layer.unwrap(
    Effect.map(stateDirectory, (directory) =>
      layerEmbeddedConnection({ name: "test" }).pipe(
        Layer.provideMerge(EmbeddedServer.layer({ directory, template: openTemplate, ...options }))
      )
    )
  )

/** Options for the operator's connection to a server of this process. */
export const asOperator = ({ endpoint, secret }: EmbeddedServerShape) =>
  connectionTo(endpoint, { name: "test", identity: "operator", secret })

/** Waits for something that will happen, and dies when it has not within five minutes. */
export const waitUntil = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  condition.pipe(
    Effect.repeat({ until: (met) => met, schedule: Schedule.spaced("10 millis") }),
    Effect.timeoutOrElse({
      duration: "5 minutes",
      orElse: () => Effect.die(new Error("waited five minutes in vain"))
    })
  )

/** The fields of a process's status line after its name: state, parent, … Empty when there is no such process. */
const statusOf = (pid: number): ReadonlyArray<string> => {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8")
    return status.slice(status.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}

/** A process that has ended and whose parent has not asked how is not alive. */
export const isAlive = (pid: number): boolean => !["Z", undefined].includes(statusOf(pid)[0])

export const killHard = (pid: number) => Effect.sync(() => void process.kill(pid, "SIGKILL"))

/** Ctrl-C in a terminal goes to every process of the group in the foreground. */
export const processGroupOf = (pid: number) => Effect.sync(() => Number(statusOf(pid)[2]))

export const parentOf = (pid: number) => Effect.sync(() => Number(statusOf(pid)[1]))

const Ready = Schema.fromJsonString(Schema.Struct({ server: Schema.Int, url: Schema.String }))
const decodeReady = Schema.decodeUnknownEffect(Ready)

/**
 * Another process that owns the directory, and has stored one message. It runs until it is killed; when the scope
 * closes its server has ended too, which writes to the directory until then.
 */
export const startOwner = Effect.fnUntraced(function* (directory: string) {
  const script = fileURLToPath(new URL("./fixtures/owner.ts", import.meta.url))
  let server: number | undefined
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [script, directory], { stdio: ["ignore", "pipe", "inherit"] })),
    (owner) =>
      Effect.suspend(() => {
        owner.kill("SIGKILL")
        return waitUntil(Effect.sync(() => server === undefined || !isAlive(server)))
      })
  )
  const line = yield* Effect.promise(async () => {
    for await (const text of createInterface({ input: child.stdout })) return text
    return ""
  })
  const ready = yield* decodeReady(line)
  server = ready.server
  return { pid: child.pid ?? 0, ...ready, child }
})
