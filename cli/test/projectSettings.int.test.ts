import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { type Project, projectAt } from "../src/project/Project.ts"
import {
  allAgentFiles,
  forgetOutdatedFiles,
  projectSettings,
  trustAgentFiles,
  untrustedAgentFiles
} from "../src/trust/projectSettings.ts"
import { readTrust } from "../src/trust/trustFile.ts"

let scratch: string
let project: Project
let before: string | undefined

const git = (...args: ReadonlyArray<string>) => execFileSync("git", [...args], { cwd: project.root, stdio: "ignore" })
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(project.root, path)), { recursive: true })
  writeFileSync(join(project.root, path), text)
}
const track = (path: string, text: string) => {
  write(path, text)
  git("add", "--force", path)
}

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "reprise-settings-")))
  project = projectAt(join(scratch, "repository"))
  mkdirSync(project.root)
  git("init", "--quiet")
  before = process.env["XDG_CONFIG_HOME"]
  process.env["XDG_CONFIG_HOME"] = join(scratch, "config")
})

afterEach(() => {
  if (before === undefined) delete process.env["XDG_CONFIG_HOME"]
  else process.env["XDG_CONFIG_HOME"] = before
  rmSync(scratch, { recursive: true, force: true })
})

const untrusted = Effect.map(
  Effect.suspend(() => Effect.all([untrustedAgentFiles(project, "opencode"), untrustedAgentFiles(project, "claude")])),
  (found) => found.flat().map(({ path }) => path)
)
const verdict = (directory = project.root) => projectSettings(project, "opencode")(directory)
const trustAll = Effect.flatMap(
  Effect.suspend(() => allAgentFiles(project)),
  (files) => trustAgentFiles(project, files)
)

const config = '{ "mcp": {} }\n'
const asOpenCodeLeavesIt = '{\n  "$schema": "https://opencode.ai/config.json", "mcp": {} }\n'

describe("the settings that a repository brings for agents", () => {
  it.effect("are every tracked file that a runtime reads, and none that is only text for its model", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" }, "there are none")
      const theirs = [
        ".opencode/agent/a.md",
        ".opencode/plugin/evil.ts",
        "opencode.json",
        "opencode.jsonc",
        ".claude/hooks/h.sh",
        ".claude/settings.json",
        ".mcp.json"
      ]
      for (const path of [...theirs, "AGENTS.md", "CLAUDE.md", "src/opencode.json"]) track(path, "{}")
      assert.sameMembers([...(yield* untrusted)], theirs)
      const refused = yield* verdict()
      assert.match(
        refused._tag === "refused" ? refused.detail : "",
        /opencode\.json.*not trusted|not trusted.*evil\.ts/
      )
    })
  )

  it.effect("are the user's own where git does not track them", () =>
    Effect.gen(function* () {
      write("opencode.json", config)
      write(".claude/settings.local.json", "{}")
      assert.deepStrictEqual(yield* untrusted, [])
    })
  )

  it.effect("count once they are trusted, until a byte of them changes, and not again when it changes back", () =>
    Effect.gen(function* () {
      track("opencode.json", config)
      track(".opencode/plugin/a.ts", "one")
      yield* trustAll
      assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" })
      write(".opencode/plugin/a.ts", "two")
      assert.deepStrictEqual(yield* untrusted, [".opencode/plugin/a.ts"])
      yield* forgetOutdatedFiles(project)
      write(".opencode/plugin/a.ts", "one")
      assert.deepStrictEqual(yield* untrusted, [".opencode/plugin/a.ts"])
      track(".opencode/plugin/b.ts", "one")
      assert.lengthOf(yield* untrusted, 2, "another file with trusted content is another file")
      const { entries } = yield* readTrust(project)
      assert.deepStrictEqual(
        entries.map(({ from, what }) => [what, from]),
        [["file", "opencode.json"]]
      )
    })
  )

  it.effect("stay trusted when OpenCode adds the address of its schema, and only then", () =>
    Effect.gen(function* () {
      track("opencode.json", config)
      yield* trustAll
      write("opencode.json", asOpenCodeLeavesIt)
      assert.deepStrictEqual(yield* untrusted, [])
      write("opencode.json", asOpenCodeLeavesIt.replace("opencode.ai", "example.org"))
      assert.deepStrictEqual(yield* untrusted, ["opencode.json"])
    })
  )

  it.effect("are judged in each worktree by what is there", () =>
    Effect.gen(function* () {
      track("opencode.json", config)
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a"], { cwd: project.root })
      yield* trustAll
      const worktree = join(scratch, "worktree")
      git("worktree", "add", "--quiet", worktree)
      assert.deepStrictEqual(yield* verdict(worktree), { _tag: "trusted" })
      writeFileSync(join(worktree, "opencode.json"), '{ "plugin": ["evil"] }')
      assert.strictEqual((yield* verdict(worktree))._tag, "refused")
      assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" })
    })
  )

  it.effect("are never trusted as links, or when git cannot tell whose they are", () =>
    Effect.gen(function* () {
      writeFileSync(join(scratch, "evil.json"), config)
      symlinkSync(join(scratch, "evil.json"), join(project.root, "opencode.json"))
      git("add", "opencode.json")
      yield* trustAll
      assert.deepStrictEqual(yield* untrusted, ["opencode.json"])
      rmSync(join(project.root, "opencode.json"))
      assert.deepStrictEqual(yield* untrusted, [])
      write("opencode.json", config)
      yield* trustAll
      assert.deepStrictEqual(yield* untrusted, [])
      writeFileSync(join(project.root, ".git", "index"), "damaged")
      assert.deepStrictEqual(yield* untrusted, ["opencode.json"])
    })
  )
})
