import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import type { Source } from "../src/config/layers.ts"
import type { Project } from "../src/project/Project.ts"
import { type TrustedSetting, trustedSettings } from "../src/trust/trustedSettings.ts"
import { trust, untrusted } from "../src/trust/trustStore.ts"
import { configOf, layerOf, type Values } from "./support/layers.ts"

const wants = (values: Values, source: Source = "reprise.toml"): ReadonlyArray<TrustedSetting> =>
  trustedSettings(configOf(layerOf(values, source)))

const gates = (...quality: ReadonlyArray<string>) => wants({ "gates.quality": quality })

const asked = (wanted: ReadonlyArray<TrustedSetting>) =>
  Effect.map(untrusted(project, wanted), (found) => found.flatMap(({ values }) => values))

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
  it.effect("is missing until it is given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
      yield* trust(project, gates("make"))
      assert.deepStrictEqual(yield* asked(gates("make")), [])
    })
  )

  it.effect("ends when a command changes, is added or removed", () =>
    Effect.gen(function* () {
      yield* trust(project, gates("make", "make test"))
      assert.deepStrictEqual(yield* asked(gates("make", "make test; evil")), ["make", "make test; evil"])
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
      assert.deepStrictEqual(yield* asked(gates("make test", "make")), ["make test", "make"])
    })
  )

  it.effect("is not needed without commands", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(gates()), [])
    })
  )

  it.effect("is not needed for the user's own commands", () =>
    Effect.gen(function* () {
      const own = wants({ "gates.quality": ["make"] }, "environment")
      assert.deepStrictEqual(yield* asked(own), [])
    })
  )

  it.effect("is not needed for a file that git does not track", () =>
    Effect.gen(function* () {
      git("rm", "--quiet", "--cached", "reprise.toml")
      assert.deepStrictEqual(yield* asked(gates("make")), [])
    })
  )

  it.effect(
    "is needed for a tracked reprise.local.toml, which is the user's own only while git does not track it",
    () =>
      Effect.gen(function* () {
        const local = wants({ "gates.quality": ["make"] }, "reprise.local.toml")
        writeFileSync(join(project.root, "reprise.local.toml"), "")
        assert.deepStrictEqual(yield* asked(local), [])
        git("add", "reprise.local.toml")
        assert.deepStrictEqual(yield* asked(local), ["make"])
      })
  )

  it.effect("is needed for the commands of a plan, tracked or not", () =>
    Effect.gen(function* () {
      const plan = wants({ "gates.quality": ["make evil"] }, "plan")
      yield* trust(project, gates("make"))
      assert.deepStrictEqual(yield* asked(plan), ["make evil"])
      yield* trust(project, plan)
      assert.deepStrictEqual(yield* asked(plan), [])
      assert.deepStrictEqual(yield* asked(gates("make")), [], "what was trusted before is trusted still")
    })
  )

  it.effect("is given once for the same commands, wherever they are read", () =>
    Effect.gen(function* () {
      yield* trust(project, gates("make"))
      assert.deepStrictEqual(yield* asked(wants({ "gates.quality": ["make"] }, "plan")), [])
    })
  )

  it.effect("in quality gates does not extend to the same commands for a new worktree", () =>
    Effect.gen(function* () {
      yield* trust(project, gates("make"))
      assert.deepStrictEqual(yield* asked(wants({ "gates.quality": ["make"], "workspace.postCreate": ["make"] })), [
        "make"
      ])
    })
  )

  for (const [setting, value] of [
    ["permissions", "all"],
    ["permissions", "workspace"],
    ["nats.url", "nats://example.org"],
    ["nats.credentials", "/home/me/team.creds"],
    ["opencode.url", "http://example.org"]
  ] as const) {
    it.effect(`is needed for ${setting} = ${value}, which grants permissions or sends secrets elsewhere`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* asked(wants({ [setting]: value })), [value])
        yield* trust(project, wants({ [setting]: value }))
        assert.deepStrictEqual(yield* asked(wants({ [setting]: value })), [])
        assert.deepStrictEqual(yield* asked(wants({ [setting]: value }, "environment")), [])
      })
    )
  }

  it.effect("is not needed while agents ask for every permission", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* asked(wants({ permissions: "ask", runtime: "claude", model: "a/b" })), [])
    })
  )

  it.effect("applies to one repository only", () =>
    Effect.gen(function* () {
      yield* trust({ ...project, root: join(scratch, "another") }, gates("make"))
      assert.deepStrictEqual(yield* asked(gates("make")), ["make"])
    })
  )

  it.effect("keeps what was trusted for other repositories, in a file that only the user can read", () =>
    Effect.gen(function* () {
      const another = { ...project, root: join(scratch, "another") }
      yield* trust(project, gates("make"))
      yield* trust(another, gates("npm test"))
      assert.deepStrictEqual(yield* asked(gates("make")), [])
      const file = join(scratch, "config", "reprise", "trust.json")
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    })
  )

  it.effect("is asked for again when its file is damaged", () =>
    Effect.gen(function* () {
      yield* trust(project, gates("make"))
      for (const damaged of ["{", "[]", '{"a":1}', JSON.stringify({ [project.root]: "all" })]) {
        writeFileSync(join(scratch, "config", "reprise", "trust.json"), damaged)
        assert.deepStrictEqual(yield* asked(gates("make")), ["make"], damaged)
      }
    })
  )
})
