/** Files of version managers in a workspace: which are put aside when a command ends. */
import { lstatSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

const isThere = (here: Scene, path: string) =>
  lstatSync(join(here.workspace, path), { throwIfNoEntry: false }) !== undefined

describe.skipIf(!(await canSandbox()))("a file by which a version manager chooses a program", () => {
  it.live.each([
    ["a path", "echo path:./evil > .nvmrc", ".nvmrc"],
    ["a path, in a folder", "mkdir sub; echo ../../evil > sub/.node-version", "sub/.node-version"],
    ["a path among versions", "printf 'gradle=8\\njava=path:./evil\\n' > .sdkmanrc", ".sdkmanrc"],
    ["what a link leads to", "echo path:./evil > x; ln -s x .python-version", ".python-version"],
    ["what a pipe says", "mkfifo .ruby-version", ".ruby-version"],
    ["more than anybody writes", "head -c 20000 /dev/zero | tr '\\0' 1 > .go-version", ".go-version"]
  ] as const)("is moved when the command that made it ends, if it names %s", ([, command, path]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, command))
      assert.include(said, "version")
      assert.isFalse(isThere(here, path))
    })
  )

  it.live("stays if it names a version, is a link to such a file beside it, or was there before", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.workspace, "own"))
      writeFileSync(join(here.workspace, "own/.nvmrc"), "path:./mine\n")
      const said = yield* during(here, (sandbox) =>
        runIn(here, sandbox, "echo 22 > .nvmrc; ln -s .nvmrc .node-version; echo 3.12.1 > .python-version; ls own")
      )
      assert.notInclude(said, "reprise:")
      for (const path of [".nvmrc", ".node-version", ".python-version", "own/.nvmrc"]) {
        assert.isTrue(isThere(here, path), path)
      }
    })
  )
})
