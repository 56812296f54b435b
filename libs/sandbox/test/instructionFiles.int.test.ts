/** Names of agents' instructions in a workspace: which are put aside when a command ends. */
import { lstatSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { canSandbox, type Scene, scene } from "../src/testing/index.ts"
import { during, runIn } from "./support/sandboxedScene.ts"

const isThere = (here: Scene, path: string) =>
  lstatSync(join(here.workspace, path), { throwIfNoEntry: false }) !== undefined

describe.skipIf(!(await canSandbox()))("a name of agents' instructions that a command made", () => {
  it.live.each([
    ["a link", "ln -sfn ~/.ssh/id_rsa AGENTS.md", "AGENTS.md"],
    ["a link in a folder", "mkdir -p sub && ln -s /proc/self/environ sub/CLAUDE.md", "sub/CLAUDE.md"],
    ["a link into Reprise's state, in other letters", "ln -s .reprise/endpoint.json Context.MD", "Context.MD"],
    ["a named pipe", "mkfifo AGENTS.md", "AGENTS.md"]
  ] as const)("is moved when its command ends, where it is %s, and the agent reads why", ([, command, path]) =>
    Effect.gen(function* () {
      const here = yield* scene
      const said = yield* during(here, (sandbox) => runIn(here, sandbox, command))
      assert.include(said, "a name of agents' instructions, which is a")
      assert.isFalse(isThere(here, path))
    })
  )

  it.live("stays where it is a plain file, a link to another such name beside it, or was there before", () =>
    Effect.gen(function* () {
      const here = yield* scene
      mkdirSync(join(here.workspace, "own"))
      symlinkSync("../elsewhere", join(here.workspace, "own", "AGENTS.md"))
      const said = yield* during(here, (sandbox) =>
        runIn(here, sandbox, "echo use tabs > AGENTS.md; ln -s AGENTS.md CLAUDE.md; ln -s ./AGENTS.md CONTEXT.md")
      )
      assert.notInclude(said, "reprise:")
      for (const path of ["AGENTS.md", "CLAUDE.md", "CONTEXT.md", "own/AGENTS.md"]) assert.isTrue(isThere(here, path))
    })
  )
})
