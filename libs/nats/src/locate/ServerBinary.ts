/** A nats-server program that runs on this machine. */
import { delimiter, join } from "node:path"
import { isProgram } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { parseServerVersion, type ServerVersion } from "../ServerVersion.ts"
import { runCommand } from "./runCommand.ts"

export interface ServerBinary {
  readonly path: string
  readonly version: ServerVersion
  /** Where it came from. */
  readonly origin: "configured" | "path" | "cache" | "fetched"
}

export class ServerUnusable extends Schema.TaggedError<ServerUnusable>()("ServerUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.path} is not a nats-server that runs here (${this.reason}). Correct REPRISE_NATS_SERVER, or unset it.`
  }
}

/** Runs the program with `--version`. */
export const inspectServer = (
  path: string,
  origin: ServerBinary["origin"]
): Effect.Effect<ServerBinary, ServerUnusable> =>
  runCommand(path, ["--version"]).pipe(
    Effect.mapError((error) => new ServerUnusable({ path, reason: error.message })),
    Effect.flatMap((output) =>
      Option.match(parseServerVersion(output), {
        onNone: () => Effect.fail(new ServerUnusable({ path, reason: "it prints no version" })),
        onSome: (version) => Effect.succeed({ path, version, origin })
      })
    )
  )

/** Directories for servers, which an ordinary user's PATH often lacks. */
const serverDirectories = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"]

/** The first nats-server on the search path that runs. */
export const findOnPath = Effect.fnUntraced(function* (searchPath: string) {
  const directories = new Set([...searchPath.split(delimiter).filter((entry) => entry !== ""), ...serverDirectories])
  for (const directory of directories) {
    const path = join(directory, "nats-server")
    if (!(yield* isProgram(path))) continue
    const found = yield* Effect.option(inspectServer(path, "path"))
    if (Option.isSome(found)) return found
  }
  return Option.none<ServerBinary>()
})
