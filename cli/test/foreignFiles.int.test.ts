/** A command changes git so that foreign settings seem to be the user's own. */
import { execFileSync } from "node:child_process"
import { cpSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { projectAt } from "../src/project/Project.ts"
import { blobNames, isTracked, knownBlobs, trackedFiles } from "../src/project/trackedFiles.ts"
import { allAgentFiles, trustAgentFiles, untrustedAgentFiles } from "../src/trust/projectSettings.ts"
import { trustedSettings } from "../src/trust/trustedSettings.ts"
import { untrusted as untrustedSettings } from "../src/trust/trustStore.ts"
import { configOf, layerOf } from "./support/layers.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()
const { git, write, track } = scratch

/** As a command of an agent could, which cannot write the file itself. */
const takenOut = (...paths: ReadonlyArray<string>) => {
  git("rm", "-r", "--cached", "--quiet", "--", ...paths)
  rmSync(join(scratch.project.root, ".git", "objects"), { recursive: true })
  execFileSync("mkdir", ["-p", join(scratch.project.root, ".git", "objects")])
}

const untrusted = (project = scratch.project) =>
  Effect.map(untrustedAgentFiles(project, "claude"), (files) => files.map(({ path }) => path))

const asked = Effect.suspend(() =>
  untrustedSettings(scratch.project, trustedSettings(configOf(layerOf({ "gates.quality": ["evil"] }, "reprise.toml"))))
).pipe(Effect.map(({ settings }) => settings.length))

/** The only file of the record. */
const record = () => {
  const folder = join(scratch.userFolder, "foreign")
  return join(folder, readdirSync(folder)[0] ?? "")
}

describe("settings of agents that others wrote", () => {
  it.effect("are not trusted where they are more together than a runtime should read", () =>
    Effect.gen(function* () {
      const paths = Array.from({ length: 65 }, (_, at) => `.opencode/command/${at}.md`)
      for (const path of paths) write(path, "a".repeat(1024 * 1024))
      git("add", ".")
      const files = yield* allAgentFiles(scratch.project)
      assert.sameMembers(
        files.map(({ path }) => path),
        paths
      )
      for (const { digest, doubt } of files) {
        assert.strictEqual(digest, "")
        assert.match(doubt ?? "", /similar files it has \d+ bytes, more than the 67108864 that can be trusted/)
      }
    })
  )
})

describe("a file of settings", () => {
  it.effect.each([".git", ".git/HEAD"])(
    "is foreign where a command removed %s, whatever a repository around it says",
    (removed) =>
      Effect.gen(function* () {
        const { root } = scratch.project
        const inner = projectAt(join(root, "inner"))
        execFileSync("git", ["init", "--quiet", inner.root])
        write("inner/reprise.toml", "")
        assert.isFalse(yield* isTracked(inner, "reprise.toml"))
        rmSync(join(inner.root, removed), { recursive: true })
        assert.isTrue(yield* isTracked(inner, "reprise.toml"))
        assert.isUndefined(yield* trackedFiles(inner.root, ["reprise.toml"]))
        const names = blobNames(Buffer.from("never committed"))
        assert.deepStrictEqual([...(yield* knownBlobs(inner.root, names))], names)
      })
  )
})

describe("a settings file that was once seen to be foreign stays foreign", () => {
  it.effect("when git has lost the file and its content", () =>
    Effect.gen(function* () {
      track(".claude/settings.json", "{}")
      write(".claude/settings.local.json", "{ }")
      assert.deepStrictEqual(yield* untrusted(), [".claude/settings.json"])
      takenOut(".claude")
      assert.deepStrictEqual(yield* untrusted(), [".claude/settings.json"])
      yield* trustAgentFiles(scratch.project, yield* allAgentFiles(scratch.project))
      assert.deepStrictEqual(yield* untrusted(), [], "until a human trusts it")
      write(".claude/settings.json", '{ "hooks": {} }')
      assert.deepStrictEqual(yield* untrusted(), [".claude/settings.json"], "as it is")
    })
  )

  it.effect("when another agent's run was the last that saw it", () =>
    Effect.gen(function* () {
      track(".mcp.json", "{}")
      yield* untrustedAgentFiles(scratch.project, "opencode")
      takenOut(".mcp.json")
      assert.deepStrictEqual(yield* untrusted(), [".mcp.json"])
    })
  )

  it.effect("when git writes it with other ends of lines than it keeps", () =>
    Effect.gen(function* () {
      track(".claude/settings.json", "{\n}\n")
      yield* untrusted()
      git("rm", "--cached", "--quiet", ".claude/settings.json")
      write(".claude/settings.json", "{\r\n}\r\n")
      assert.deepStrictEqual(yield* untrusted(), [".claude/settings.json"])
    })
  )

  it.effect("when a submodule has taken the place of its folder in the index, and gone again", () =>
    Effect.gen(function* () {
      track(".claude/settings.json", "{}")
      yield* untrusted()
      takenOut(".claude")
      git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},.claude`)
      assert.notDeepEqual(yield* untrusted(), [])
      git("update-index", "--force-remove", ".claude")
      assert.deepStrictEqual(yield* untrusted(), [".claude/settings.json"])
    })
  )

  it.effect("when it lies among what a runtime installs", () =>
    Effect.gen(function* () {
      track(".opencode/node_modules/evil/index.js", "evil()")
      yield* untrusted()
      takenOut(".opencode")
      const found = yield* untrustedAgentFiles(scratch.project, "opencode")
      assert.deepStrictEqual(
        found.map(({ path }) => path),
        [".opencode/node_modules/evil/index.js"]
      )
    })
  )

  it.effect("in every worktree, and when the clone is moved or copied", () =>
    Effect.gen(function* () {
      track(".claude/settings.json", "{}")
      yield* untrusted()
      takenOut(".claude")
      const copied = projectAt(join(scratch.folder, "copied"))
      cpSync(scratch.project.root, copied.root, { recursive: true })
      assert.deepStrictEqual(yield* untrusted(copied), [".claude/settings.json"])
      const moved = projectAt(join(scratch.folder, "moved"))
      renameSync(scratch.project.root, moved.root)
      assert.deepStrictEqual(yield* untrusted(moved), [".claude/settings.json"])
    })
  )

  it.effect("and so does every other file, where the record of it cannot be read", () =>
    Effect.gen(function* () {
      track(".mcp.json", "{}")
      write(".claude/settings.json", "{ }")
      assert.deepStrictEqual(yield* untrusted(), [".mcp.json"])
      writeFileSync(record(), "{")
      assert.sameMembers([...(yield* untrusted())], [".claude/settings.json", ".mcp.json"])
    })
  )

  it.effect("if it is Reprise's own, also", () =>
    Effect.gen(function* () {
      track("reprise.toml", "[gates]\n")
      assert.strictEqual(yield* asked, 1)
      takenOut("reprise.toml")
      assert.strictEqual(yield* asked, 1)
    })
  )

  it.effect("and one that git has never known is the user's own", () =>
    Effect.gen(function* () {
      track(".mcp.json", "{}")
      write(".claude/settings.json", "{ }")
      write("reprise.toml", "[gates]\n")
      yield* untrusted()
      assert.deepStrictEqual(yield* untrusted(), [".mcp.json"])
      assert.strictEqual(yield* asked, 0)
    })
  )
})
