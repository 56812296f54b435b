import { existsSync } from "node:fs"
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { locateServer } from "../src/index.ts"
import { compareVersions, formatVersion, minimumVersion } from "../src/ServerVersion.ts"
import { temporaryDirectory } from "./harness.ts"

/** A program that answers as a nats-server of this version would when asked for it. */
const programOf = (directory: string, version: string) =>
  Effect.promise(async () => {
    const path = join(directory, "nats-server")
    await mkdir(directory, { recursive: true })
    await writeFile(path, `#!/bin/sh\necho 'nats-server: v${version}'\n`)
    await chmod(path, 0o755)
    return path
  })

const offline = { REPRISE_NATS_FETCH: "never" }

describe("locateServer", () => {
  it.live("takes the configured program, whatever else is installed", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const path = yield* programOf(join(directory, "own"), "2.9.10")
      yield* programOf(join(directory, "bin"), "2.12.3")
      const environment = { ...offline, REPRISE_NATS_SERVER: path, PATH: join(directory, "bin") }
      const found = yield* locateServer({ environment })
      assert.deepStrictEqual(
        { ...found, version: formatVersion(found.version) },
        { path, version: "2.9.10", origin: "configured" }
      )
    }).pipe(Effect.scoped)
  )

  it.live("does not look further when the configured program does not run", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* programOf(directory, "2.12.3")
      const environment = { ...offline, REPRISE_NATS_SERVER: join(directory, "absent"), PATH: directory }
      const error = yield* Effect.flip(locateServer({ environment }))
      assert.strictEqual(error._tag, "ServerUnusable")
      assert.include(error.message, "REPRISE_NATS_SERVER")
    }).pipe(Effect.scoped)
  )

  it.live("prefers the cache to an older server on the path, and an older server to none", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* programOf(join(directory, "bin"), "2.9.10")
      const environment = { ...offline, PATH: join(directory, "bin"), XDG_CACHE_HOME: join(directory, "cache") }
      assert.strictEqual((yield* locateServer({ environment })).origin, "path")
      const cache = join(directory, "cache", "reprise", "nats-server")
      yield* programOf(join(cache, "2.10.23"), "2.10.23")
      yield* programOf(join(cache, "2.10.27"), "2.10.27")
      const found = yield* locateServer({ environment })
      assert.strictEqual(found.path, join(cache, "2.10.27", "nats-server"))
    }).pipe(Effect.scoped)
  )

  it.live("says what to install when no server is found", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const error = yield* Effect.flip(
        locateServer({ environment: { ...offline, PATH: directory, XDG_CACHE_HOME: directory } })
      )
      assert.strictEqual(error._tag, "ServerNotFound")
      for (const words of ["apt-get install nats-server", "brew install", "container", "--nats"]) {
        assert.include(error.message, words)
      }
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!existsSync("/usr/bin/apt-get"))("fetches one that is good enough, twice at once without harm", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const said = yield* Ref.make<ReadonlyArray<string>>([])
      const environment = { PATH: directory, XDG_CACHE_HOME: directory }
      const locate = locateServer({ environment, onProgress: (text) => Ref.update(said, (all) => [...all, text]) })
      const found = yield* Effect.all([locate, locate], { concurrency: 2 })
      for (const server of found) {
        assert.strictEqual(server.origin, "fetched")
        assert.isAtLeast(compareVersions(server.version, minimumVersion), 0)
      }
      assert.include((yield* Ref.get(said)).join("\n"), "Downloading nats-server")
      const left = yield* Effect.promise(() => readdir(join(directory, "reprise", "nats-server")))
      assert.strictEqual(left.length, 1)
      assert.strictEqual((yield* locate).origin, "cache")
    }).pipe(Effect.scoped)
  )
})
