import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { afterEach, beforeEach } from "vitest"
import { type Config, resolve, type Source } from "../src/config/Config.ts"
import type { Project } from "../src/project/Project.ts"
import { commandsOf, trust, untrustedCommands } from "../src/project/trust.ts"

const configOf = (values: Record<string, unknown>, source: Source = "reprise.toml"): Config =>
  Result.getOrThrow(resolve([{ source, values: new Map(Object.entries(values)) }]))

const gates = (...quality: ReadonlyArray<string>) => configOf({ "gates.quality": quality })

let scratch: string
let project: Project
let before: string | undefined

const git = (...args: ReadonlyArray<string>) => execFileSync("git", [...args], { cwd: project.root, stdio: "ignore" })

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "reprise-trust-")))
  const root = join(scratch, "repository")
  mkdirSync(root)
  project = { root, directory: join(root, ".reprise") }
  git("init", "--quiet")
  writeFileSync(join(root, "reprise.toml"), "")
  git("add", "reprise.toml")
  before = process.env["XDG_CONFIG_HOME"]
  process.env["XDG_CONFIG_HOME"] = join(scratch, "config")
})

afterEach(() => {
  if (before === undefined) delete process.env["XDG_CONFIG_HOME"]
  else process.env["XDG_CONFIG_HOME"] = before
  rmSync(scratch, { recursive: true, force: true })
})

describe("trust in the commands of a tracked reprise.toml", () => {
  it("names the quality gates and the commands for a new worktree", () => {
    const config = configOf({ "gates.quality": ["make"], "workspace.postCreate": ["npm ci"] })
    assert.deepStrictEqual(commandsOf(config), ["make", "npm ci"])
  })

  it.effect("is missing at first, and there once it was given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), ["make"])
      yield* trust(project, gates("make"))
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), [])
    })
  )

  it.effect("ends when a command changes, is added or removed", () =>
    Effect.gen(function* () {
      yield* trust(project, gates("make", "make test"))
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make", "make test; evil")), [
        "make",
        "make test; evil"
      ])
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), ["make"])
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make test", "make")), ["make test", "make"])
    })
  )

  it.effect("is not needed without commands", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* untrustedCommands(project, gates()), [])
    })
  )

  it.effect("is not needed for commands of the user's own", () =>
    Effect.gen(function* () {
      const own = configOf({ "gates.quality": ["make"] }, "environment")
      assert.deepStrictEqual(yield* untrustedCommands(project, own), [])
    })
  )

  it.effect("is not needed for a file that git does not track", () =>
    Effect.gen(function* () {
      git("rm", "--quiet", "--cached", "reprise.toml")
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), [])
    })
  )

  it.effect("is of one repository", () =>
    Effect.gen(function* () {
      yield* trust({ ...project, root: join(scratch, "another") }, gates("make"))
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), ["make"])
    })
  )

  it.effect("keeps what was trusted of other repositories, in a file for the user alone", () =>
    Effect.gen(function* () {
      const another = { ...project, root: join(scratch, "another") }
      yield* trust(project, gates("make"))
      yield* trust(another, gates("npm test"))
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), [])
      const file = join(scratch, "config", "reprise", "trust.json")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    })
  )

  it.effect("is asked for again when its file is damaged", () =>
    Effect.gen(function* () {
      yield* trust(project, gates("make"))
      writeFileSync(join(scratch, "config", "reprise", "trust.json"), "{")
      assert.deepStrictEqual(yield* untrustedCommands(project, gates("make")), ["make"])
    })
  )
})
