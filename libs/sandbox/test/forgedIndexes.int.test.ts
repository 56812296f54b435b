/** Indexes of git that a command wrote itself, which the user's git would obey as soon as it runs. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { forgedIndex } from "@reprise/process/testing"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { evil, make } from "./support/nestedCommands.ts"
import { during, environmentOf, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const git = ({ home, workspace }: Scene, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", workspace, "-c", "core.hooksPath=.git/hooks", ...args], {
    encoding: "utf8",
    stdio: "pipe",
    env: environmentOf({ home })
  })

/** In the workspace, under a name that git ignores: an index whose checkout makes a hook, and runs it. */
const writeForged = (here: Scene) => {
  const hash = execFileSync("git", ["-C", here.workspace, "hash-object", "-w", "--stdin"], {
    encoding: "utf8",
    input: `#!/bin/sh\ntouch ${here.home}/ran\n`
  }).trim()
  const hook = { path: ".git/hooks/post-checkout", mode: "100755", hash, isHidden: true } as const
  const honest = { path: "reprise.toml", mode: "100644", hash: git(here, "rev-parse", "HEAD:reprise.toml").trim() }
  writeFileSync(join(here.workspace, "out-forged"), forgedIndex([honest, hook]))
}

describe.skipIf(!sandboxed)("an index with entries that git never makes", () => {
  it.live("of a repository inside of the workspace has that moved", () =>
    Effect.gen(function* () {
      const here = yield* scene
      writeForged(here)
      const said = yield* during(here, (sandbox) =>
        runIn(here, sandbox, `${make("nested")}; cp out-forged nested/.git/index`)
      )
      assert.include(said, "nested/.git was moved")
    })
  )

  it.live.each([
    ["the caches", "$npm_config_cache", "caches"],
    ["the folder of temporary files", "/tmp", "tmp"]
  ] as const)("is none that git makes of a submodule in %s, also of one that a commit has", ([, place, name]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const onDisk = `$(awk '$5 ~ /${name}$/ {print $4}' /proc/self/mountinfo | tail -n 1)${name === "caches" ? "/npm" : ""}/evil`
      const said = yield* during(here, (sandbox) =>
        runIn(
          here,
          sandbox,
          `${evil(`${place}/evil`)}; at=${onDisk}; at=.reprise/\${at##*/.reprise/}; echo "at $at"; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),$at`
        )
      )
      assert.match(said, /at \.reprise\/sandbox\/.*\/evil\n(.|\n)*Invalid path '\.reprise\/sandbox/)
    })
  )
})
