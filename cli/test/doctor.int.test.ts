import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { checkOpenCode } from "../src/flows/doctor/programs.ts"
import {
  checkDisk,
  checkFirstCommit,
  checkGitPrograms,
  checkIdentity,
  checkRepository
} from "../src/flows/doctor/repository.ts"
import { projectAt } from "../src/project/Project.ts"

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reprise-doctor-"))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe("the doctor's finding about a repository", () => {
  it.effect("is its root if Reprise can keep its state there", () =>
    Effect.gen(function* () {
      const fresh = yield* checkRepository(projectAt(root))
      assert.deepStrictEqual([fresh.state, fresh.detail], ["ok", root])
      mkdirSync(join(root, ".reprise"))
      assert.strictEqual((yield* checkRepository(projectAt(root))).state, "ok")
    })
  )

  it.effect("is broken if a file is where the state folder should be", () =>
    Effect.gen(function* () {
      writeFileSync(join(root, ".reprise"), "")
      const found = yield* checkRepository(projectAt(root))
      assert.strictEqual(found.state, "broken")
      assert.strictEqual(found.detail, `${join(root, ".reprise")} is not a folder.`)
    })
  )
})

describe("the doctor's findings about commits", () => {
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", [...args], { cwd: root, stdio: "ignore" })

  it.effect("warn where nothing was committed, and where git does not know who commits", () =>
    Effect.gen(function* () {
      git("init", "--quiet")
      for (const key of ["name", "email"]) git("config", `user.${key}`, "")
      const project = projectAt(root)
      assert.deepInclude(yield* checkFirstCommit(project), { state: "warning" })
      assert.deepInclude(yield* checkIdentity(project), { state: "warning" })
      git("config", "user.name", "Ada")
      git("config", "user.email", "ada@example.com")
      git("commit", "--quiet", "--allow-empty", "--message", "first")
      assert.deepInclude(yield* checkFirstCommit(project), { state: "ok" })
      assert.deepInclude(yield* checkIdentity(project), { state: "ok", detail: "Ada <ada@example.com>" })
      assert.match((yield* checkDisk(project)).detail, /^\d+\.\d GB free$/)
    })
  )
})

describe("the doctor's finding about programs of git", () => {
  it.effect("says which ones files of the repository decide about, and the next step", () =>
    Effect.gen(function* () {
      execFileSync("git", ["init", "--quiet"], { cwd: root })
      const details = Effect.map(checkGitPrograms(projectAt(root)), (found) => found.map(({ detail }) => detail).join())
      assert.notInclude(yield* details, root)
      execFileSync("git", ["config", "filter.own.clean", "npx clean"], { cwd: root })
      const [found] = yield* checkGitPrograms(projectAt(root))
      assert.deepInclude(found, { check: "git programs", state: "warning" })
      assert.include(found?.detail, `filter.own.clean: npx clean (in ${join(root, ".git", "config")})`)
      assert.include(found?.next, "git config --list --show-origin")
    })
  )
})

describe("the doctor's finding about OpenCode", () => {
  const before = process.env["REPRISE_OPENCODE"]
  afterEach(() => {
    if (before === undefined) delete process.env["REPRISE_OPENCODE"]
    else process.env["REPRISE_OPENCODE"] = before
  })

  it.effect("is broken if the program at its place is another one", () =>
    Effect.gen(function* () {
      process.env["REPRISE_OPENCODE"] = "/bin/true"
      const found = yield* checkOpenCode
      assert.strictEqual(found.state, "broken")
      assert.match(found.detail, /^\/bin\/true is not what it should be: --version says 'true /)
    })
  )
})
