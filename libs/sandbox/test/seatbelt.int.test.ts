/**
 * The text of the program for macOS. Nothing here runs on a Mac: where Seatbelt would be entered stands a program that
 * enters nothing, which shows that a command and its variables arrive, and no more.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { seatbeltGit, seatbeltRules, seatbeltShell } from "../src/command/seatbelt.ts"
import { type Policy, policyFor, type Surroundings } from "../src/policy/policy.ts"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "reprise-seatbelt-")))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const none = { write: [], read: [], deny: [], network: [] }
const clone = "/var/folders/me/reprise/clones/1"
const around: Surroundings = {
  home: "/Users/me",
  workspace: "/Users/me/work",
  stateDirectory: "/Users/me/work/.reprise",
  temporary: "/var/folders/me/reprise/temporary/1",
  caches: "/var/folders/me/reprise/caches",
  refused: "/Users/me/work/.reprise/sandbox/refused",
  git: {
    directory: "/Users/me/work/.git",
    common: "/Users/me/work/.git",
    executable: ["/Users/me/work/.githooks"],
    obeyed: ["/Users/me/work/.githooks", "/Users/me/work/shared.gitconfig"],
    clone: [
      { path: "/Users/me/work/.git", as: "readable" },
      { path: clone, as: "writable" }
    ]
  },
  listed: [],
  startup: [],
  hidden: [{ path: "/Users/me/.ssh", kind: "folder" }],
  write: ["/Users/me/data"],
  read: [],
  commandFiles: ["/Users/me/work/reprise.toml"],
  present: [],
  anchors: { folders: [], links: [], missing: [] },
  sockets: [],
  registries: ["registry.npmjs.org"]
}
const policy = policyFor(around, none, "author")

const programs = { own: "/state/programs", outside: "/usr/bin:/bin", inTree: { path: "", variables: {} } }
const textOf = (it: Policy, shell = "/bin/zsh") =>
  seatbeltShell({ policy: it, shell, programs, chosenEnvironment: false })

describe("the program for macOS", () => {
  it("tells Seatbelt the same policy: what is written, what stays as it is, what is not seen, and no network", () => {
    assert.deepStrictEqual(seatbeltRules(policy), {
      needsNetworkRestriction: true,
      readConfig: {
        denyOnly: ["/Users/me/.ssh", "/Users/me/work/.reprise"],
        allowWithinDeny: []
      },
      writeConfig: {
        allowOnly: ["/Users/me/data", "/Users/me/work", around.caches, clone, around.temporary],
        denyWithinAllow: [
          "/Users/me/work/.git",
          "/Users/me/work/.githooks",
          "/Users/me/work/reprise.toml",
          "/Users/me/work/.reprise",
          ...policy.kept
        ]
      }
    })
  })

  it("has a profile that denies by default, all of the network, keys, hooks and settings that do not exist yet", async () => {
    const text = await textOf(policy)
    assert.match(text, /\/usr\/bin\/sandbox-exec -p '\(version 1\)\n\(deny default/)
    assert.notInclude(text, "(allow network")
    const pathsAfter = (rule: string) => text.split(rule).at(1)?.split("(with message")[0] ?? ""
    for (const path of ["/Users/me/.ssh", "/Users/me/work/.reprise"]) {
      assert.include(pathsAfter("(deny file-read*"), `(subpath "${path}")`)
    }
    const denied = pathsAfter("(deny file-write*")
    for (const path of [".reprise", ".git", ".githooks", "reprise.toml", "opencode.json", "shared.gitconfig"]) {
      assert.include(denied, `/Users/me/work/${path}`)
    }
    assert.include(text, "(allow signal (target same-sandbox))")
    assert.include(text, "*TOKEN*")
  })

  it("has git for Reprise write into the clone alone", async () => {
    const text = await seatbeltGit("/usr/bin/git", policy, clone)
    const [, allowed = ""] = text.split("(allow file-write*\n")
    assert.strictEqual(allowed.split("\n")[0], `  (subpath "${clone}")`)
    assert.match(text, / \/usr\/bin\/git .*"\$@"\n$/)
  })

  it("is not made where its profile could not hide a file, or not keep one from being written", async () => {
    const workspace = "/Users/me/work/.reprise/worktrees/r1"
    const inWorktree = { ...around, workspace, git: undefined, commandFiles: [] }
    assert.isDefined(seatbeltRules(policyFor(inWorktree, none, "author")))
    const hidden = [{ path: `${workspace}/secrets`, kind: "folder" as const }]
    const inexpressible = policyFor({ ...inWorktree, hidden }, none, "author")
    assert.isUndefined(seatbeltRules(inexpressible))
    const failed = await textOf(inexpressible).then(
      () => "",
      (error: unknown) => String(error)
    )
    assert.match(failed, /profile cannot say/)
    const inState = { ...around, caches: "/Users/me/work/.reprise/sandbox/caches" }
    assert.isUndefined(seatbeltRules(policyFor(inState, none, "author")))
  })

  it("gives the shell each command as it is, a temporary folder of its own, and no token", async () => {
    const entered = join(folder, "enter")
    writeFileSync(entered, '#!/bin/sh\nshift 2\nexec "$@"\n')
    const program = join(folder, "program")
    const own = { ...policy, temporary: join(folder, "it's mine") }
    const text = await seatbeltShell({
      ahead: join(folder, "own git"),
      policy: own,
      shell: "/bin/sh",
      programs,
      chosenEnvironment: false
    })
    writeFileSync(program, text.replace("/usr/bin/sandbox-exec", entered))
    for (const path of [entered, program]) chmodSync(path, 0o700)
    const environment = { PATH: process.env["PATH"], GITHUB_TOKEN: "secret" }
    const run = (...words: ReadonlyArray<string>) =>
      execFileSync(program, words, { encoding: "utf8", env: environment })
    assert.strictEqual(
      run("-c", `printf '%s|' "a  b" "$TMPDIR" "\${GITHUB_TOKEN-none}" 'it'"'"'s'`),
      [...["a  b", own.temporary, "none", "it's", ""]].join("|")
    )
    assert.strictEqual(run("echo alone"), "alone\n")
    assert.strictEqual(run("echo $PATH | cut -d: -f1"), `${join(folder, "own git")}\n`)
  })
})
