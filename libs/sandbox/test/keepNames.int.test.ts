/** What the program of a command moves and puts back, by its real shell, where links stand in the way. */
import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { type Keeping, keepNames } from "../src/command/keepNames.ts"
import { usualLimits } from "../src/policy/keptLimits.ts"
import type { Policy } from "../src/policy/policy.ts"
import { type HeldFile, holdFiles, putBack } from "../src/replaced/heldFiles.ts"

let folder = ""
let workspace = ""
let heard = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reprise-keep-"))
  workspace = join(folder, "work")
  heard = join(folder, "sandbox", "hosts", "1", "heard")
  for (const path of [workspace, heard, join(heard, "..", "held"), join(folder, "sandbox", "refused")]) {
    mkdirSync(path, { recursive: true })
  }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const policy = (more: Partial<Policy> = {}): Policy => ({
  workspace,
  stateDirectory: join(workspace, ".reprise"),
  mounts: [{ path: workspace, as: "writable" }],
  listed: [],
  kept: [],
  present: [],
  guarded: [],
  links: [],
  refused: join(folder, "sandbox", "refused"),
  temporary: join(folder, "tmp"),
  network: [],
  environment: {},
  ...more
})

const keeping = (files: ReadonlyArray<HeldFile>): Keeping => ({
  folder: heard,
  files,
  folders: { paths: [], copied: [], stamp: "" },
  keeper: ""
})

/** `while`: what happens as the command goes on. */
const command = (of: Policy, meanwhile = ":", held: ReadonlyArray<HeldFile> = []) => {
  const { after, before, end } = keepNames(of, keeping(held))
  try {
    return execFileSync("/bin/sh", ["-c", `status=0\n${before}\n${meanwhile}\n${after}${end()}exit $status`], {
      cwd: workspace,
      encoding: "utf8",
      stdio: "pipe"
    })
  } catch (error) {
    return String(error)
  }
}

const refused = () => readdirSync(join(folder, "sandbox", "refused"))
const text = (path: string) => readFileSync(path, "utf8")

const holdOf = (path: string): HeldFile => {
  const held = join(heard, "..", "held", "0a1b")
  linkSync(path, held)
  copyFileSync(path, `${held}-copy`)
  return { path, held }
}

describe("the program of a command", () => {
  it("moves nothing of what a killed command's link leads to, but the link", () => {
    mkdirSync(join(workspace, ".git", "hooks"), { recursive: true })
    symlinkSync(".git", join(workspace, ".github"))
    // No process has this number: the largest one is smaller.
    writeFileSync(join(heard, "begun-99999999"), `${workspace}/.github/hooks\n`)
    command(policy())
    assert.isTrue(existsSync(join(workspace, ".git", "hooks")))
    assert.isFalse(existsSync(join(workspace, ".github")))
  })

  it("moves nothing of what a link leads to that takes the place of a folder between its look and its move", () => {
    const mine = join(folder, "mine")
    mkdirSync(join(mine, "hooks"), { recursive: true })
    mkdirSync(join(workspace, ".github"))
    const { after, before } = keepNames(policy({ kept: [join(workspace, ".github", "hooks")] }), keeping([]))
    // Its own look at links above came before.
    const swapped = after.replaceAll("[ -L ", "[ -p ")
    const script = `status=0\n${before}\nrmdir .github; ln -s ${mine} .github\n${swapped}\necho "stuck: $stuck"`
    const said = execFileSync("/bin/sh", ["-c", script], { cwd: workspace, encoding: "utf8", stdio: "pipe" })
    assert.isTrue(existsSync(join(mine, "hooks")))
    assert.match(said, /stuck: 1/)
    assert.deepStrictEqual(refused(), [])
  })

  it("keeps as many names as a policy may have", () => {
    const names = Array.from({ length: usualLimits.mostPaths }, (_, n) => join(workspace, `tree${n}`, ".mcp.json"))
    const [first = "", last = ""] = [names[0], names.at(-1)]
    for (const path of [first, last]) mkdirSync(dirname(path))
    writeFileSync(first, "{}")
    const { after, before, end } = keepNames(policy({ kept: names, present: [first] }), keeping([]))
    const program = join(folder, "program")
    writeFileSync(
      program,
      `status=0\n${before}\nhere=$(cat "$begun")\necho evil >${last}\n${after}${end()}echo "$here"\n`
    )
    const said = execFileSync("/bin/sh", [program], { cwd: workspace, encoding: "utf8", maxBuffer: 1e8, stdio: "pipe" })
    assert.deepStrictEqual(said.trimEnd().split("\n"), [`workspace=${workspace}`, ...names.slice(1)])
    assert.deepStrictEqual([existsSync(first), existsSync(last)], [true, false])
  })

  it("moves nothing that the user puts where a link of the user's leads outside of the workspace", () => {
    const mine = join(folder, "mine")
    mkdirSync(mine)
    symlinkSync(mine, join(workspace, ".vscode"))
    const links = [{ path: join(workspace, ".vscode"), target: mine }]
    command(policy({ kept: [join(workspace, ".vscode", "tasks.json")], links }), `echo '{}' >${mine}/tasks.json`)
    assert.isTrue(existsSync(join(mine, "tasks.json")))
  })

  it("begins not while nobody answers what took the place of a folder that a killed command could write", () => {
    const hooks = join(workspace, "hooks")
    mkdirSync(hooks)
    writeFileSync(join(heard, "begun-99999999"), `@1:1:1.000000000=${hooks}\n`)
    const said = command(policy(), "echo began >began")
    assert.match(said, /Reprise does not answer .* No command runs until it does/)
    assert.isFalse(existsSync(join(workspace, "began")))
    assert.isTrue(existsSync(join(heard, "begun-99999999")))
  })

  it("accepts what somebody replaced before it began, under no other name", () => {
    const place = join(workspace, "opencode.json")
    writeFileSync(place, "first")
    const file = holdOf(place)
    writeFileSync(join(workspace, "notes"), "second")
    linkSync(join(workspace, "notes"), join(workspace, "other"))
    rmSync(place)
    execFileSync("mv", [join(workspace, "notes"), place])
    command(policy(), ":", [file])
    writeFileSync(join(workspace, "other"), "evil")
    assert.deepStrictEqual([text(place), text(file.held)], ["second", "second"])
  })

  it("puts back what was there before, though in the moment of the replacement a command wrote into that, too", () => {
    const place = join(workspace, "opencode.json")
    writeFileSync(place, "first")
    const file = holdOf(place)
    command(policy(), `echo mine >new; mv new opencode.json; echo evil >>${file.held}`, [file])
    assert.strictEqual(text(place), "first")
  })

  it("accepts nothing of what a command wrote in that moment as the same file", () => {
    const place = join(workspace, "opencode.json")
    writeFileSync(place, "first")
    const file = holdOf(place)
    command(policy(), `echo evil >new; mv new opencode.json; echo evil >${file.held}`, [file])
    assert.strictEqual(text(place), "first")
  })

  it("puts back what another command, whose mount has ended, wrote into the file that was put back before", () => {
    const place = join(workspace, "opencode.json")
    writeFileSync(place, "first")
    const file = holdOf(place)
    const other = "echo mine >new; mv new opencode.json"
    command(
      policy(),
      `${other}; (${"status=0; "}${keepNames(policy(), keeping([file])).after}); echo evil >>opencode.json`,
      [file]
    )
    assert.strictEqual(text(place), "first")
    assert.notStrictEqual(statSync(place).ino, statSync(file.held).ino)
  })
})

describe("a file that is put back after a killed command", () => {
  it("is what was there before, though the command wrote into that, too", async () => {
    const path = join(workspace, "opencode.json")
    writeFileSync(path, "first")
    const [file] = await holdFiles(heard, policy({ mounts: [...policy().mounts, { path, as: "readable" }] }))
    assert.isDefined(file)
    if (file === undefined) return
    rmSync(path)
    writeFileSync(path, "mine")
    writeFileSync(file.held, "evil")
    assert.isTrue(await putBack(file, join(folder, "sandbox", "refused")))
    assert.strictEqual(text(path), "first")
  })
})
