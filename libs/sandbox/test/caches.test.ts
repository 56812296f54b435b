import { assert, describe, it } from "@effect/vitest"
import { caches, cacheVariables, fateOf, keptPackages } from "../src/caches/cacheRules.ts"

/** What each tool would obey in the folder that its variable names, and what it fetched or built there. */
const table: ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]> = [
  ["npm", ["_npx/abc/node_modules/.bin/x", "_logs/a.log", ".npmrc"], ["_cacache/content-v2/sha512/aa"]],
  ["pnpm", [], ["v10/files/00/aa", "v3/files/00/aa"]],
  ["yarn", [], ["v6/npm-a-1.0.0/package.json", "a-npm-1.0.0-1.zip"]],
  ["yarn-global", [".yarnrc.yml", "plugins/x.cjs", "telemetry.json"], ["cache/a.zip", "metadata/npm/a.json"]],
  ["bun", ["00aa.git/config"], ["a@1.0.0@@@1/package.json", "@s/a@1.0.0@@@1/package.json", "00aa.npm"]],
  [
    "deno",
    ["check_cache_v2", "v8_code_cache_v2", "gen/file/a.js", "location_data/1/kv.sqlite3", "dl/release/v2/deno.zip"],
    ["npm/registry.npmjs.org/a/1.0.0/package.json", "remote/https/deno.land/aa", "deps/https/deno.land/aa"]
  ],
  ["pip", ["pip.conf", "selfcheck/a"], ["http/0/a", "http-v2/0/a", "wheels/0/a.whl"]],
  [
    "uv",
    ["environments-v2/x/bin/python", "interpreter-v4/a.msgpack", "uv.toml", "git-v0/db/a/config"],
    ["archive-v0/a/b.py", "wheels-v5/pypi/a", "simple-v16/pypi/a", "sdists-v9/pypi/a"]
  ],
  ["poetry", ["virtualenvs/x/bin/python", "config.toml"], ["cache/repositories/a", "artifacts/0/a.whl"]],
  [
    "cargo",
    [
      "config.toml",
      "config",
      "bin/cargo-x",
      "credentials.toml",
      ".crates.toml",
      "env",
      "registry/config.toml",
      "git/db/a/config"
    ],
    ["registry/index/a", "registry/cache/a.crate", "registry/src/a/lib.rs"]
  ],
  ["go-build", [], ["00/aa-d"]],
  ["go-mod", ["cache/vcs/a/config"], ["cache/download/a/@v/v1.0.0.zip", "github.com/a/b@v1.0.0/go.mod"]],
  [
    "gradle",
    ["init.d/x.gradle", "init.gradle", "init.gradle.kts", "gradle.properties", "daemon/8/registry.bin", "native/x.so"],
    ["caches/modules-2/files-2.1/a.jar", "wrapper/dists/gradle-8-bin/a", "jdks/temurin/bin/java"]
  ],
  ["maven", [], ["org/a/1/a.jar"]],
  ["nuget", [], ["a/1.0.0/a.nuspec"]],
  ["composer", ["config.json", "auth.json", "vendor/bin/x", "vcs/a/config"], ["files/a.zip", "repo/https---a/p.json"]],
  ["ccache", ["ccache.conf", "lock/a"], ["0/1/aaR", "f/2/bbM"]]
]

describe("caches", () => {
  it("has a row here for each tool", () => {
    assert.deepStrictEqual(
      table.map(([folder]) => folder),
      caches.map(({ folder }) => folder)
    )
  })

  it.each(table)(
    "keeps packages of %s from one gate to the next, and nothing that the tool obeys",
    (folder, obeyed, packages) => {
      // The folders above a path are kept, or looked into.
      const outlives = (path: string) => {
        const names = `${folder}/${path}`.split("/")
        for (let length = 1; length <= names.length; length++) {
          const fate = fateOf(keptPackages, names.slice(0, length).join("/"))
          if (fate !== "above") return fate === "kept"
        }
        return false
      }
      assert.deepStrictEqual(obeyed.filter(outlives), [])
      assert.deepStrictEqual(
        packages.filter((path) => !outlives(path)),
        []
      )
    }
  )

  it("gives each tool a folder of its own below one", () => {
    const variables = cacheVariables("/caches")
    for (const { folder, variable } of caches) {
      assert.isTrue((variables[variable] ?? "").endsWith(`/caches/${folder}`), variable)
    }
    assert.strictEqual(new Set(caches.map(({ folder }) => folder)).size, caches.length)
  })

  it("removes what no tool made", () => {
    assert.strictEqual(fateOf(keptPackages, "other"), "removed")
    assert.strictEqual(fateOf(keptPackages, "cargo-x"), "removed")
  })
})
