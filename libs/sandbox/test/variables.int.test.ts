/** Variables with names that no shell can say: some shells hand them on all the same. */
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canary, canSandbox, scene } from "../src/testing/index.ts"
import { during, environmentOf } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const variables = {
  "npm_config_//registry.npmjs.org/:_authToken": canary,
  "odd-name": canary,
  GITHUB_TOKEN: canary,
  LINES_OF_TEXT: "first\nSECOND=2\nexport THIRD='$(false)'",
  QUOTED: `it's "quoted" \`x\` $HOME \\`,
  EMPTY: ""
}

describe.skipIf(!sandboxed)("a command whose program a shell runs that hands on every variable", () => {
  it.live.each(["bash", "dash"] as const)("gets none by an odd name, and all others as they are, in %s", (shell) =>
    Effect.gen(function* () {
      const here = yield* scene
      const look = 'cat /proc/1/environ; printf \'%s|%s|%s|\' "$LINES_OF_TEXT" "$QUOTED" "$EMPTY"; echo "$0 $1"'
      const said = yield* during(here, ({ shellFor }) =>
        Effect.flatMap(shellFor(here.workspace, "author"), (program) => {
          // As where `/bin/sh` is that shell.
          const anew = join(here.home, "program")
          writeFileSync(anew, readFileSync(program, "utf8").replaceAll("/bin/sh ", `/bin/${shell} `))
          return Effect.callback<string>((resume) => {
            execFile(
              `/bin/${shell}`,
              [anew, "-c", look, "zero", "one two"],
              { cwd: here.workspace, env: { ...environmentOf(here), ...variables } },
              (_, stdout, stderr) => resume(Effect.succeed(stdout + stderr))
            )
          })
        })
      )
      assert.notInclude(said, canary)
      assert.include(said, `${variables.LINES_OF_TEXT}|${variables.QUOTED}||zero one two\n`)
    })
  )
})
