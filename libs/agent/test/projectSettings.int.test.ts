/** What runtimes make of a repository's settings that nobody has trusted. */
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { instructionsIn } from "../src/claude/turn/instructions.ts"
import { OpenCodeNotPermitted, OpenCodeServer, type ProjectSettings } from "../src/index.ts"
import { requireTrustedSettings } from "../src/ProjectSettings.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "reprise-project-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

describe("the settings of a repository", () => {
  it.effect("keep OpenCode from being started until they are trusted", () =>
    Effect.gen(function* () {
      const permit = Effect.fail(new OpenCodeNotPermitted({ detail: "opencode.json is not trusted." }))
      const options = { stateDirectory: yield* folder, command: "/nowhere/opencode", permit }
      const server = Context.get(yield* Layer.build(OpenCodeServer.layer(options)), OpenCodeServer)
      const error = yield* Effect.flip(server.connection)
      assert.strictEqual(error._tag, "OpenCodeNotPermitted")
      assert.strictEqual(error.message, "opencode.json is not trusted.")
      assert.isTrue(Option.isNone(yield* server.pid))
    }).pipe(Effect.scoped)
  )

  it.effect("are asked about for each directory, and a refusal says what to do", () =>
    Effect.gen(function* () {
      const settings: ProjectSettings = (directory) =>
        Effect.succeed(directory === "/a" ? { _tag: "trusted" } : { _tag: "refused", detail: "Trust it." })
      yield* requireTrustedSettings(settings, "create", "/a")
      const error = yield* Effect.flip(requireTrustedSettings(settings, "create", "/b"))
      assert.deepInclude(error, { kind: "other", operation: "create", detail: "Trust it.", sessionUsable: true })
    })
  )
})

describe("the instructions of a repository", () => {
  it.effect("are the texts of CLAUDE.md and AGENTS.md, once if one is a link to the other", () =>
    Effect.gen(function* () {
      const directory = yield* folder
      const path = (name: string) => join(directory, name)
      assert.isUndefined(yield* instructionsIn(directory))
      writeFileSync(path("AGENTS.md"), "Use tabs.\n")
      assert.strictEqual(yield* instructionsIn(directory), "The repository's instructions for agents:\n\nUse tabs.")
      symlinkSync("AGENTS.md", path("CLAUDE.md"))
      assert.strictEqual(yield* instructionsIn(directory), "The repository's instructions for agents:\n\nUse tabs.")
      rmSync(path("CLAUDE.md"))
      writeFileSync(path("CLAUDE.md"), "Be brief.\n")
      assert.strictEqual(
        yield* instructionsIn(directory),
        "The repository's instructions for agents:\n\nBe brief.\n\nUse tabs."
      )
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["state of Reprise", ".reprise/endpoint.json", symlinkSync],
    ["another file of the repository, which the sandbox may hide", ".env", symlinkSync],
    ["a second name of a file", ".env", (target: string, path: string) => linkSync(join(dirname(path), target), path)]
  ] as const)("are never %s", ([, target, link]) =>
    Effect.gen(function* () {
      const directory = yield* folder
      mkdirSync(join(directory, ".reprise"))
      writeFileSync(join(directory, target), "secret")
      link(target, join(directory, "AGENTS.md"))
      symlinkSync("AGENTS.md", join(directory, "CLAUDE.md"))
      assert.isUndefined(yield* instructionsIn(directory))
    }).pipe(Effect.scoped)
  )

  it.effect("are never files from elsewhere, folders, or files that are not text", () =>
    Effect.gen(function* () {
      const base = yield* folder
      const directory = join(base, "repository")
      mkdirSync(directory)
      writeFileSync(join(base, "key"), "secret")
      symlinkSync("../key", join(directory, "CLAUDE.md"))
      mkdirSync(join(directory, "AGENTS.md"))
      assert.isUndefined(yield* instructionsIn(directory))
      rmSync(join(directory, "AGENTS.md"), { recursive: true })
      writeFileSync(join(directory, "AGENTS.md"), Buffer.from([0xff, 0xfe, 0x00]))
      assert.isUndefined(yield* instructionsIn(directory))
    }).pipe(Effect.scoped)
  )
})
