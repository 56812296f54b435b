import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { projectAt } from "../src/project/Project.ts"
import {
  allAgentFiles,
  forgetOutdatedFiles,
  projectSettings,
  trustAgentFiles,
  untrustedAgentFiles
} from "../src/trust/projectSettings.ts"
import { readTrust } from "../src/trust/trustFile.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()
const { git, write, track } = scratch

const untrusted = Effect.map(
  Effect.suspend(() =>
    Effect.all([untrustedAgentFiles(scratch.project, "opencode"), untrustedAgentFiles(scratch.project, "claude")])
  ),
  (found) => found.flat().map(({ path }) => path)
)
const verdict = (directory = scratch.project.root) => projectSettings(scratch.project, "opencode")(directory)
const trustAll = Effect.flatMap(
  Effect.suspend(() => allAgentFiles(scratch.project)),
  (files) => trustAgentFiles(scratch.project, files)
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

  it.effect("are those in deeper folders as well, where Claude reads them", () =>
    Effect.gen(function* () {
      track("packages/a/.claude/skills/x/SKILL.md", "---\nhooks: {}\n---\n")
      assert.deepStrictEqual(yield* untrusted, ["packages/a/.claude/skills/x/SKILL.md"])
      assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" }, "OpenCode does not")
    })
  )

  it.effect("are the user's own where git does not track them", () =>
    Effect.gen(function* () {
      write("opencode.json", config)
      write(".claude/settings.local.json", "{}")
      assert.deepStrictEqual(yield* untrusted, [])
    })
  )

  it.effect("are others' also once a command has taken them out of the index and of the newest commit", () =>
    Effect.gen(function* () {
      for (const path of ["opencode.json", ".claude/hooks/h.sh"]) track(path, config)
      write("settings", "{}")
      symlinkSync("settings", join(scratch.project.root, ".mcp.json"))
      git("add", ".mcp.json")
      const commit = (message: string) =>
        git("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", message)
      commit("Begin")
      git("rm", "-r", "--cached", "--quiet", ".")
      assert.sameMembers([...(yield* untrusted)], ["opencode.json", ".claude/hooks/h.sh", ".mcp.json"])
      commit("End")
      write(".git/info/exclude", "*\n")
      write("opencode.json", asOpenCodeLeavesIt)
      write(".claude/settings.local.json", '{ "mine": true }')
      assert.sameMembers([...(yield* untrusted)], ["opencode.json", ".claude/hooks/h.sh", ".mcp.json"])
    })
  )

  it.effect("count once they are trusted, until a byte of them changes, and not again when it changes back", () =>
    Effect.gen(function* () {
      track("opencode.json", config)
      track(".opencode/plugin/a.ts", "one")
      track(".opencode/tsconfig.json", "{}")
      yield* trustAll
      assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" })
      write(".opencode/plugin/a.ts", "two")
      assert.deepStrictEqual(yield* untrusted, [".opencode/plugin/a.ts"])
      yield* forgetOutdatedFiles(scratch.project)
      write(".opencode/plugin/a.ts", "one")
      assert.deepStrictEqual(yield* untrusted, [".opencode/plugin/a.ts"])
      track(".opencode/plugin/b.ts", "one")
      assert.lengthOf(yield* untrusted, 2, "another file with trusted content is another file")
      const { entries } = yield* readTrust(scratch.project)
      assert.deepStrictEqual(
        entries.map(({ from, what }) => [what, from]),
        [
          ["file", ".opencode/tsconfig.json"],
          ["file", "opencode.json"]
        ]
      )
    })
  )

  it.effect(
    "are npm's as well where OpenCode installs packages for a folder of its own, and for an agent by its command",
    () =>
      Effect.gen(function* () {
        track(".npmrc", "registry=https://example.org/\n")
        assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" }, "there is no such folder")
        const ofCommand = yield* untrustedAgentFiles(scratch.project, "acp:npx agent")
        assert.deepStrictEqual(
          ofCommand.map(({ path }) => path),
          [".npmrc"]
        )
        write(".opencode/agent/a.md", "mine")
        assert.deepStrictEqual(yield* untrusted, [".npmrc"])
        yield* trustAll
        assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" })
      })
  )

  it.effect.each([
    ["no tsconfig.json", {}, "Put '{}' into .opencode/tsconfig.json"],
    ["one at the top", { "tsconfig.json": "{}" }, "Put '{}' into .opencode/tsconfig.json"],
    ["one that extends another", { ".opencode/tsconfig.json": '{ "extends": "../tsconfig.json" }' }, "Take 'extends'"],
    ["one that may extend another", { ".opencode/tsconfig.json": '{ "\\u0065xtends": "../x" }' }, "Take 'extends'"],
    [
      "a deeper one that extends another",
      { ".opencode/tsconfig.json": "{}", ".opencode/tool/jsconfig.json": '{ "extends": "../../x" }' },
      "Take 'extends'"
    ],
    [
      "one that extends another in UTF-16",
      { ".opencode/tsconfig.json": Buffer.from('\ufeff{ "extends": "../tsconfig.json" }', "utf16le") },
      "write it in UTF-8"
    ],
    ["one of its own", { ".opencode/tsconfig.json": "{}" }, undefined]
  ] as const)("are refused though trusted where another file may say what their code imports: %s", ([, files, says]) =>
    Effect.gen(function* () {
      for (const [path, text] of Object.entries<string | Buffer>(files)) track(path, text)
      for (const kind of ["tool", "tools", "plugin", "plugins"]) {
        track(`.opencode/${kind}/hello.ts`, 'import { tool } from "@opencode-ai/plugin"\n')
        yield* trustAll
        const said = yield* verdict()
        assert.strictEqual(said._tag, says === undefined ? "trusted" : "refused", kind)
        if (said._tag === "refused") assert.include(said.detail, says ?? "")
        git("rm", "-q", "-f", `.opencode/${kind}/hello.ts`)
      }
    })
  )

  it.effect.each([
    ["file", ".opencode/plugin/evil\xff.ts"],
    ["folder", ".opencode/skills/evil\xff/SKILL.md"]
  ] as const)("are refused where the name of a %s is not text, tracked or not", ([, name]) =>
    Effect.gen(function* () {
      track(".opencode/tsconfig.json", "{}")
      const path = Buffer.from(join(scratch.project.root, name), "latin1")
      mkdirSync(path.subarray(0, path.lastIndexOf("/")), { recursive: true })
      writeFileSync(path, "export {}\n")
      for (const isTracked of [true, false]) {
        const change = isTracked ? ["add", "--force", "."] : ["rm", "-q", "-r", "--cached", ".opencode"]
        git(...change)
        const doubts = (yield* allAgentFiles(scratch.project)).map(({ doubt }) => doubt)
        assert.include(doubts, "its name is not text")
        const said = yield* verdict()
        assert.strictEqual(said._tag, "refused")
      }
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
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a"], {
        cwd: scratch.project.root
      })
      yield* trustAll
      const worktree = join(scratch.folder, "worktree")
      git("worktree", "add", "--quiet", worktree)
      assert.deepStrictEqual(yield* verdict(worktree), { _tag: "trusted" })
      writeFileSync(join(worktree, "opencode.json"), '{ "plugin": ["evil"] }')
      assert.strictEqual((yield* verdict(worktree))._tag, "refused")
      assert.deepStrictEqual(yield* verdict(), { _tag: "trusted" })
    })
  )

  it.effect("are judged by the clone in which a host without a repository of its own works", () =>
    Effect.gen(function* () {
      track("opencode.json", config)
      git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a")
      const worktree = join(scratch.project.directory, "worktrees", "run")
      git("worktree", "add", "--quiet", worktree)
      const onHost = projectSettings(projectAt(join(scratch.folder, "host")), "opencode")
      assert.strictEqual((yield* onHost(worktree))._tag, "refused")
      yield* trustAll
      assert.deepStrictEqual(yield* onHost(worktree), { _tag: "trusted" })
      rmSync(join(worktree, "opencode.json"))
      git("-C", worktree, "rm", "--quiet", "--cached", "opencode.json")
      git("rm", "--quiet", "--cached", "opencode.json")
      assert.deepStrictEqual(yield* onHost(worktree), { _tag: "trusted" }, "it brings none")
    })
  )

  it.effect("are never trusted as links, or when git cannot tell whose they are", () =>
    Effect.gen(function* () {
      writeFileSync(join(scratch.folder, "evil.json"), config)
      symlinkSync(join(scratch.folder, "evil.json"), join(scratch.project.root, "opencode.json"))
      git("add", "opencode.json")
      yield* trustAll
      assert.deepStrictEqual(yield* untrusted, ["opencode.json"])
      rmSync(join(scratch.project.root, "opencode.json"))
      assert.deepStrictEqual(yield* untrusted, [])
      write("opencode.json", config)
      yield* trustAll
      assert.deepStrictEqual(yield* untrusted, [])
      writeFileSync(join(scratch.project.root, ".git", "index"), "damaged")
      assert.deepStrictEqual(yield* untrusted, ["opencode.json"])
    })
  )
})
