/** Servers that were fetched earlier: `<cache>/reprise/nats-server/<version>/nats-server`. */
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { isProgram } from "@reprise/process"
import { Effect, Option } from "effect"
import { compareVersions, formatVersion, parseServerVersion, type ServerVersion } from "../ServerVersion.ts"
import type { ServerBinary } from "./ServerBinary.ts"

const program = (cache: string, version: ServerVersion) => join(cache, formatVersion(version), "nats-server")

/** The newest cached server. Its directory's name is its version, so it need not be started to find out. */
export const findCached = Effect.fnUntraced(function* (cache: string) {
  const names = yield* Effect.promise(() => readdir(cache).catch(() => []))
  const versions = names
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .flatMap((name) => Option.toArray(parseServerVersion(name)))
    .sort((a, b) => compareVersions(b, a))
  for (const version of versions) {
    const path = program(cache, version)
    if (yield* isProgram(path)) return Option.some<ServerBinary>({ path, version, origin: "cache" })
  }
  return Option.none<ServerBinary>()
})

/** A directory on the cache's file system that is removed with the scope. */
export const scratchDirectory = (cache: string) =>
  Effect.acquireRelease(
    Effect.tryPromise(async () => {
      await mkdir(cache, { recursive: true, mode: 0o700 })
      return mkdtemp(join(cache, ".fetch-"))
    }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }).catch(() => undefined))
  )

/**
 * Moves a program into the cache in one step, so readers see all of it or nothing. If another process was faster, its
 * program stays; both have the same version.
 */
export const moveToCache = (cache: string, scratch: string, fetched: string, version: ServerVersion) =>
  Effect.tryPromise(async () => {
    const entry = join(scratch, "entry")
    await mkdir(entry, { mode: 0o755 })
    await rename(fetched, join(entry, "nats-server"))
    await chmod(join(entry, "nats-server"), 0o755)
    await rename(entry, join(cache, formatVersion(version))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
    return program(cache, version)
  })
