import { assert, describe, it } from "@effect/vitest"
import { isServerOf, serversInListing } from "../src/embedded/leftoverServers.ts"
import { directoryError } from "../src/embedded/StateDirectory.ts"
import { cacheDirectory } from "../src/locate/serverCache.ts"

const config = "/home/me/.reprise/nats/server.conf"

describe("isServerOf", () => {
  it.each([
    [["/cache/nats-server", "-c", config], true],
    [["vim", config], false],
    [["/bin/sh", "-c", "script", "reprise-guard", "/cache/nats-server", config, "/log"], false],
    [["/cache/nats-server", "-c", `${config}.bak`], false],
    [["/cache/nats-server", "-c", "/other/.reprise/nats/server.conf"], false],
    [[], false]
  ])("tells by the arguments %j: %s", (argv, expected) => assert.strictEqual(isServerOf(config, argv), expected))

  it("reads a listing of processes", () => {
    const listing = [
      ` 12 /opt/homebrew/bin/nats-server -c ${config}`,
      ` 13 vim -c ${config}`,
      ` 14 /opt/homebrew/bin/nats-server -c /other${config}`,
      ""
    ].join("\n")
    assert.deepStrictEqual(serversInListing(config, listing), [12])
  })
})

it.each([
  ["ENOSPC", "DiskFull"],
  ["EDQUOT", "DiskFull"],
  ["EACCES", "DirectoryUnusable"],
  ["EROFS", "DirectoryUnusable"],
  ["ENOTDIR", "DirectoryUnusable"]
])("reads the file system's %s as %s", (code, tag) => {
  const error = directoryError("/home/me/.reprise", Object.assign(new Error(code), { code }))
  assert.strictEqual(error._tag, tag)
  assert.include(error.message, "/home/me/.reprise")
})

it("keeps fetched servers in the user's cache, and ignores a relative one as XDG demands", () => {
  assert.strictEqual(cacheDirectory({ XDG_CACHE_HOME: "/c" }), "/c/reprise/nats-server")
  assert.match(cacheDirectory({ XDG_CACHE_HOME: "c" }), /^\/.*\.cache\/reprise\/nats-server$/)
})
