import { execFileSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { afterEach, beforeEach } from "vitest"
import { type Project, projectAt } from "../src/project/Project.ts"
import { adoptState, prepareState, requireOwnState } from "../src/project/stateOrigin.ts"

let scratch: string
let project: Project
let before: string | undefined

const git = (...args: ReadonlyArray<string>) => execFileSync("git", [...args], { cwd: project.root, stdio: "ignore" })
const inside = (...names: ReadonlyArray<string>) => join(project.directory, ...names)
const key = () => join(scratch, "config", "reprise", "machine.key")

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "reprise-origin-")))
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

/** The reason for which the state is refused. */
const refusal = (of: Project = project) =>
  Effect.map(Effect.flip(requireOwnState(of)), ({ exitCode, message }) => {
    assert.strictEqual(exitCode, 3)
    return message
  })

describe("a state folder", () => {
  it.effect("that this machine made here is believed, and made again after its loss", () =>
    Effect.gen(function* () {
      yield* requireOwnState(project)
      assert.isFalse(existsSync(project.directory), "to look makes nothing")
      assert.isFalse(existsSync(key()))
      yield* prepareState(project)
      yield* requireOwnState(project)
      yield* prepareState(project)
      assert.strictEqual(yield* adoptState(project), "own")
      assert.strictEqual(statSync(key()).mode & 0o777, 0o600)
      rmSync(project.directory, { recursive: true })
      yield* prepareState(project)
      yield* requireOwnState(project)
    })
  )

  it.effect("without a signature, or with that of another machine, clone or place, is refused until it is signed", () =>
    Effect.gen(function* () {
      yield* prepareState(project)
      const origin = readFileSync(inside("origin.json"), "utf8")
      rmSync(inside("origin.json"))
      assert.match(yield* refusal(), /no signature of this machine/)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(prepareState(project))))
      assert.isFalse(existsSync(inside("origin.json")), "what is refused is not signed on the way")
      assert.strictEqual(yield* adoptState(project), "signed")
      yield* requireOwnState(project)

      for (const forged of ["", "{}", '{"signature":""}', origin.replace(/[0-9a-f]{8}/, "00000000")]) {
        writeFileSync(inside("origin.json"), forged)
        assert.match(yield* refusal(), /not this machine's for this place/)
      }
      writeFileSync(inside("origin.json"), origin)
      yield* requireOwnState(project)

      const moved = projectAt(join(scratch, "moved"))
      cpSync(project.root, moved.root, { recursive: true })
      assert.match(yield* refusal(moved), /not this machine's for this place/)

      rmSync(join(project.root, ".git"), { recursive: true })
      git("init", "--quiet")
      assert.match(yield* refusal(), /not this machine's for this place/)
      yield* adoptState(project)
      yield* requireOwnState(project)
      rmSync(key())
      assert.match(yield* refusal(), /not this machine's for this place/)
    })
  )

  it.effect("of which git tracks anything is never believed, signed or not, whatever the case of its name", () =>
    Effect.gen(function* () {
      yield* prepareState(project)
      writeFileSync(inside("nats", "evil.json"), "{}")
      git("add", "--force", ".reprise/nats/evil.json")
      assert.match(yield* refusal(), /git tracks files in it/)
      assert.match((yield* Effect.flip(adoptState(project))).hint, /git rm -r --cached \.reprise/)
      git("rm", "--quiet", "--cached", ".reprise/nats/evil.json")
      yield* requireOwnState(project)
      mkdirSync(join(project.root, ".REPRISE"), { recursive: true })
      writeFileSync(join(project.root, ".REPRISE", "version.json"), "{}")
      git("add", "--force", ".REPRISE/version.json")
      assert.match(yield* refusal(), /git tracks files in it/)
    })
  )

  it.effect("that is a link, or has links in it, is refused and cannot be signed", () =>
    Effect.gen(function* () {
      yield* prepareState(project)
      renameSync(project.directory, join(scratch, "elsewhere"))
      symlinkSync(join(scratch, "elsewhere"), project.directory)
      assert.match(yield* refusal(), /it is a link/)
      assert.match((yield* Effect.flip(adoptState(project))).message, /cannot be signed: it is a link/)
      rmSync(project.directory)
      renameSync(join(scratch, "elsewhere"), project.directory)
      symlinkSync(join(scratch, ".bashrc"), inside("logs"))
      assert.match(yield* refusal(), /a link in it, logs/)
      rmSync(inside("logs"))
      rmSync(inside("origin.json"))
      mkdirSync(inside("logs"))
      symlinkSync(join(scratch, ".bashrc"), inside("logs", "reprise.log"))
      assert.match((yield* Effect.flip(adoptState(project))).message, /a link in it, .*reprise\.log/)
      mkdirSync(inside("worktrees", "run", "node_modules"), { recursive: true })
      symlinkSync("..", inside("worktrees", "run", "node_modules", "me"))
      rmSync(inside("logs", "reprise.log"))
      assert.strictEqual(yield* adoptState(project), "signed", "worktrees may have links of their own")
    })
  )

  it.effect("that holds nothing but prompts needs no signature, but follows no link to them", () =>
    Effect.gen(function* () {
      mkdirSync(inside("prompts"), { recursive: true })
      writeFileSync(inside("prompts", "work.md"), "Work.")
      yield* requireOwnState(project)
      symlinkSync("/etc/passwd", inside("prompts", "review.md"))
      assert.match(yield* refusal(), /a link in it/)
      rmSync(inside("prompts", "review.md"))
      yield* prepareState(project)
      yield* requireOwnState(project)
    })
  )

  it.effect("is refused when git's folder or this machine's key cannot be believed", () =>
    Effect.gen(function* () {
      yield* prepareState(project)
      chmodSync(key(), 0o666)
      assert.match(yield* refusal(), /machine\.key, cannot be read: .* can be written by other users/)
      chmodSync(key(), 0o600)
      writeFileSync(key(), "short")
      assert.match(yield* refusal(), /machine\.key, is damaged/)
      writeFileSync(join(project.root, ".git", "index"), "damaged")
      assert.match(yield* refusal(), /git tracks files in it/)
    })
  )
})
