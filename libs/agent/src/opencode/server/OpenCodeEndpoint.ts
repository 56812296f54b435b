/** `opencode.json` in the state directory: the running server, its owner and how to reach it. Readable by its owner only. */
import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { isAlive, type OwnServer, ownServer, replaceFile, startOf } from "@reprise/process"
import { Effect, Option, Redacted, Schema } from "effect"
import { OpenCodeInUse, OpenCodeStateFault } from "./OpenCodeUnavailable.ts"

/** A server to talk to. */
export interface Connection {
  readonly url: string
  readonly username: string
  readonly password: Redacted.Redacted
  /** To another user's process at its port nothing is sent. Absent: the server may be anybody's, anywhere. */
  readonly ownServer?: OwnServer | undefined
}

const OpenCodeEndpoint = Schema.Struct({
  version: Schema.Literal(1),
  url: Schema.String,
  password: Schema.String,
  pid: Schema.Int,
  /** The server's process group. */
  group: Schema.Int,
  ownerPid: Schema.Int,
  /** The owner's start time from the kernel, which tells it from a later process with the same id. */
  ownerStart: Schema.String,
  /** Whose processes both are. None of an older Reprise. */
  ownerUser: Schema.optionalKey(Schema.Int)
})
type OpenCodeEndpoint = typeof OpenCodeEndpoint.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(OpenCodeEndpoint))

const endpointFile = (stateDirectory: string) => join(stateDirectory, "opencode.json")
export const logFile = (stateDirectory: string) => join(stateDirectory, "logs", "opencode.log")

export const onDisk = <A>(operation: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new OpenCodeStateFault({ operation, cause }) })

const readFileOf = (stateDirectory: string) =>
  Effect.promise(() => readFile(endpointFile(stateDirectory), "utf8").then(decode, () => Option.none()))

const liveOwner = Effect.fnUntraced(function* (endpoint: OpenCodeEndpoint) {
  if (endpoint.ownerPid === process.pid || !isAlive(endpoint.ownerPid)) return false
  return (yield* Effect.promise(() => startOf(endpoint.ownerPid))) === endpoint.ownerStart
})

/** Fails when another live process runs the server of the directory. */
export const refuseSecondOwner = Effect.fn("refuseSecondOwner")(function* (stateDirectory: string) {
  const endpoint = yield* readFileOf(stateDirectory)
  if (Option.isSome(endpoint) && (yield* liveOwner(endpoint.value))) {
    return yield* new OpenCodeInUse({ stateDirectory, ownerPid: endpoint.value.ownerPid })
  }
})

/** The server that a live process runs for the directory, for another process of the same user. */
export const readOpenCodeEndpoint = Effect.fn("readOpenCodeEndpoint")(function* (stateDirectory: string) {
  const endpoint = yield* readFileOf(stateDirectory)
  if (Option.isNone(endpoint)) return Option.none<Connection>()
  const { ownerPid, ownerUser, password, pid, url } = endpoint.value
  const usable = ownerPid === process.pid || (yield* liveOwner(endpoint.value))
  return usable
    ? Option.some<Connection>({
        url,
        username: "opencode",
        password: Redacted.make(password),
        ownServer: ownServer(pid, ownerUser)
      })
    : Option.none<Connection>()
})

export const writeOpenCodeEndpoint = (
  stateDirectory: string,
  connection: Connection,
  server: { readonly pid: number; readonly group: number }
) =>
  onDisk("writing opencode.json", async () => {
    const endpoint: OpenCodeEndpoint = {
      version: 1,
      url: connection.url,
      password: Redacted.value(connection.password),
      pid: server.pid,
      group: server.group,
      ownerPid: process.pid,
      ownerStart: await startOf(process.pid),
      ...(process.getuid === undefined ? {} : { ownerUser: process.getuid() })
    }
    await replaceFile(endpointFile(stateDirectory), JSON.stringify(endpoint))
  })

export const removeOpenCodeEndpoint = (stateDirectory: string) =>
  onDisk("removing opencode.json", () => rm(endpointFile(stateDirectory), { force: true })).pipe(Effect.ignore)
