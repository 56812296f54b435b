/** Each place where programs keep keys and logins, as a file and as a folder. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { credentialPaths } from "../src/index.ts"
import { canary, canSandbox, scene } from "../src/testing/index.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

const sandboxed = await canSandbox()

const put = (path: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, canary)
}

describe("places of credentials", () => {
  it("are named once, relative to the home folder, and none lies in another one", () => {
    for (const [at, path] of credentialPaths.entries()) {
      assert.notMatch(path, /^[/~]|\/$|(^|\/)\.\.?(\/|$)/)
      const above = credentialPaths.filter((one, other) => other !== at && `${path}/`.startsWith(`${one}/`))
      assert.deepStrictEqual(above, [], path)
    }
  })
})

describe.skipIf(!sandboxed)("a command in the sandbox", () => {
  it.live.each(["file", "folder"])("reads none of the places of credentials where each is a %s", (kind) =>
    Effect.gen(function* () {
      const here = yield* scene
      for (const path of credentialPaths) {
        const place = join(here.home, path)
        rmSync(place, { recursive: true, force: true })
        put(kind === "folder" ? join(place, "inside") : place)
      }
      put(join(here.home, "notes/plain"))
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, `cd ${here.home} && grep -rls ${canary} .`))
      assert.deepStrictEqual(said.trim().split("\n"), ["./notes/plain"])
    })
  )
})
