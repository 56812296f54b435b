import { homedir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { userCacheFolder, userConfigFolder } from "../src/index.ts"

it("keeps the user's settings and caches in the folders of XDG, and ignores relative ones as XDG demands", () => {
  assert.strictEqual(userCacheFolder({ XDG_CACHE_HOME: "/c" }), "/c/reprise")
  assert.strictEqual(userConfigFolder({ XDG_CONFIG_HOME: "/c" }), "/c/reprise")
  for (const path of ["c", "", undefined]) {
    assert.strictEqual(userCacheFolder({ XDG_CACHE_HOME: path }), join(homedir(), ".cache/reprise"))
    assert.strictEqual(userConfigFolder({ XDG_CONFIG_HOME: path }), join(homedir(), ".config/reprise"))
  }
})
