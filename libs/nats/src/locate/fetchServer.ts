/**
 * Fetches nats-server from the system's own Debian or Ubuntu mirror without changing the system: with a private source
 * list and private package lists. apt checks the archive's signature with the key that the system trusts.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option, Schema } from "effect"
import { type AptSource, parseDeb822, parseDistribution, parseOneLine, privateSource } from "./aptSources.ts"
import { runCommand } from "./runCommand.ts"
import { inspectServer, type ServerBinary } from "./ServerBinary.ts"
import { moveToCache, scratchDirectory } from "./serverCache.ts"

/** Why no server was fetched. The caller can try other ways. */
export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", { reason: Schema.String }) {
  override get message() {
    return `nats-server could not be fetched: ${this.reason}.`
  }
}

const failed = (error: unknown) => new FetchFailed({ reason: error instanceof Error ? error.message : String(error) })

const readText = (path: string) => Effect.promise(() => readFile(path, "utf8").catch(() => ""))

const systemSources = Effect.gen(function* () {
  const directory = "/etc/apt/sources.list.d"
  const names = yield* Effect.promise(() => readdir(directory).catch(() => []))
  const sources: Array<AptSource> = [...parseOneLine(yield* readText("/etc/apt/sources.list"))]
  for (const name of names.sort()) {
    const text = yield* readText(join(directory, name))
    if (name.endsWith(".sources")) sources.push(...parseDeb822(text))
    if (name.endsWith(".list")) sources.push(...parseOneLine(text))
  }
  return sources
})

/** apt writes only into `scratch`, and the hooks that the system runs after an update are off. */
export const aptConfiguration = (scratch: string): string =>
  [
    "#clear APT::Update::Pre-Invoke;",
    "#clear APT::Update::Post-Invoke;",
    "#clear APT::Update::Post-Invoke-Success;",
    `Dir::Etc::sourcelist "${scratch}/nats.sources";`,
    'Dir::Etc::sourceparts "/dev/null";',
    'Dir::Etc::preferences "/dev/null";',
    'Dir::Etc::preferencesparts "/dev/null";',
    `Dir::State "${scratch}/state";`,
    `Dir::State::lists "${scratch}/lists";`,
    'Dir::State::status "/dev/null";',
    `Dir::Cache "${scratch}/cache";`,
    'APT::Sandbox::User "root";',
    'Acquire::Languages "none";',
    'Acquire::Retries "1";',
    'Acquire::http::Timeout "15";',
    'Acquire::https::Timeout "15";',
    ""
  ].join("\n")

/** Downloads, unpacks, tests and caches the server. Safe when two processes do it at once. Gives up after two minutes. */
export const fetchServer = Effect.fn("fetchServer")(
  function* (cache: string) {
    const distribution = parseDistribution(yield* readText("/etc/os-release"))
    if (process.platform !== "linux" || Option.isNone(distribution)) {
      return yield* new FetchFailed({ reason: "this system is neither Debian nor Ubuntu" })
    }
    const source = privateSource(yield* systemSources, distribution.value)
    if (Option.isNone(source)) return yield* new FetchFailed({ reason: "the system's package sources name no mirror" })

    const scratch = yield* scratchDirectory(cache)
    const configuration = join(scratch, "apt.conf")
    yield* Effect.tryPromise(async () => {
      for (const directory of ["state", "lists/partial", "cache/archives/partial"]) {
        await mkdir(join(scratch, directory), { recursive: true })
      }
      await writeFile(join(scratch, "nats.sources"), source.value.text)
      await writeFile(configuration, aptConfiguration(scratch))
    })
    const apt = (...args: ReadonlyArray<string>) =>
      runCommand("apt-get", ["-c", configuration, "-q", ...args], { directory: scratch, timeoutMs: 60_000 })
    yield* apt("-o", "APT::Update::Error-Mode=any", "update")
    yield* apt("download", "nats-server")

    const files = yield* Effect.tryPromise(() => readdir(scratch))
    const archive = files.find((name) => name.endsWith(".deb"))
    if (archive === undefined) return yield* new FetchFailed({ reason: "apt-get downloaded nothing" })
    yield* runCommand("dpkg-deb", ["-x", archive, "root"], { directory: scratch, timeoutMs: 30_000 })
    const unpacked = join(scratch, "root", "usr", "sbin", "nats-server")
    const server = yield* inspectServer(unpacked, "fetched")
    const path = yield* moveToCache(cache, scratch, unpacked, server.version)
    return { ...server, path } satisfies ServerBinary
  },
  Effect.scoped,
  Effect.mapError(failed)
)
