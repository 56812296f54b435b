import { assert, it } from "@effect/vitest"
import { directoryError } from "../src/embedded/StateDirectory.ts"
import { cacheDirectory } from "../src/locate/serverCache.ts"

it.each([
  ["ENOSPC", "DiskFull"],
  ["EDQUOT", "DiskFull"],
  ["EACCES", "DirectoryUnusable"],
  ["EROFS", "DirectoryUnusable"],
  ["ENOTDIR", "DirectoryUnusable"]
])("classifies the file system's %s as %s", (code, tag) => {
  const error = directoryError("/home/me/.reprise", Object.assign(new Error(code), { code }))
  assert.strictEqual(error._tag, tag)
  assert.include(error.message, "/home/me/.reprise")
})

it("keeps fetched servers in the user's cache, and ignores a relative one as XDG demands", () => {
  assert.strictEqual(cacheDirectory({ XDG_CACHE_HOME: "/c" }), "/c/reprise/nats-server")
  assert.match(cacheDirectory({ XDG_CACHE_HOME: "c" }), /^\/.*\.cache\/reprise\/nats-server$/)
})
