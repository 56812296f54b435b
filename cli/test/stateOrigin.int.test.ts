import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { type Project, projectAt } from "../src/project/Project.ts"
import { adoptState, prepareState, requireOwnState } from "../src/project/stateOrigin.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const scratch = scratchRepository()
const { git } = scratch

const inside = (...names: ReadonlyArray<string>) => join(scratch.project.directory, ...names)
const key = () => join(scratch.userFolder, "machine.key")

/** The reason for which the state is refused. */
const refusal = (of: Project = scratch.project) =>
  Effect.map(Effect.flip(requireOwnState(of)), ({ exitCode, message }) => {
    assert.strictEqual(exitCode, 3)
    return message
  })

describe("a state folder", () => {
  it.effect("that this machine made here is believed, and made again after its loss", () =>
    Effect.gen(function* () {
      yield* requireOwnState(scratch.project)
      assert.isFalse(existsSync(scratch.project.directory), "to look makes nothing")
      assert.isFalse(existsSync(key()))
      yield* prepareState(scratch.project)
      yield* requireOwnState(scratch.project)
      yield* prepareState(scratch.project)
      assert.strictEqual(yield* adoptState(scratch.project), "own")
      assert.strictEqual(statSync(key()).mode & 0o777, 0o600)
      rmSync(scratch.project.directory, { recursive: true })
      yield* prepareState(scratch.project)
      yield* requireOwnState(scratch.project)
    })
  )

  it.effect("without a signature, or with that of another machine, clone or place, is refused until it is signed", () =>
    Effect.gen(function* () {
      yield* prepareState(scratch.project)
      const origin = readFileSync(inside("origin.json"), "utf8")
      rmSync(inside("origin.json"))
      assert.match(yield* refusal(), /no signature of this machine/)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(prepareState(scratch.project))))
      assert.isFalse(existsSync(inside("origin.json")), "what is refused is not signed on the way")
      assert.strictEqual(yield* adoptState(scratch.project), "signed")
      yield* requireOwnState(scratch.project)

      for (const forged of ["", "{}", '{"signature":""}', origin.replace(/[0-9a-f]{8}/, "00000000")]) {
        writeFileSync(inside("origin.json"), forged)
        assert.match(yield* refusal(), /not this machine's for this place/)
      }
      writeFileSync(inside("origin.json"), origin)
      yield* requireOwnState(scratch.project)

      const moved = projectAt(join(scratch.folder, "moved"))
      cpSync(scratch.project.root, moved.root, { recursive: true })
      assert.match(yield* refusal(moved), /not this machine's for this place/)

      rmSync(join(scratch.project.root, ".git"), { recursive: true })
      git("init", "--quiet")
      assert.match(yield* refusal(), /not this machine's for this place/)
      yield* adoptState(scratch.project)
      yield* requireOwnState(scratch.project)
      rmSync(key())
      assert.match(yield* refusal(), /not this machine's for this place/)
    })
  )

  it.effect("of which git tracks anything is never believed, signed or not, whatever the case of its name", () =>
    Effect.gen(function* () {
      yield* prepareState(scratch.project)
      writeFileSync(inside("nats", "evil.json"), "{}")
      git("add", "--force", ".reprise/nats/evil.json")
      assert.match(yield* refusal(), /git tracks files in it/)
      assert.match((yield* Effect.flip(adoptState(scratch.project))).hint, /git rm -r --cached \.reprise/)
      git("rm", "--quiet", "--cached", ".reprise/nats/evil.json")
      yield* requireOwnState(scratch.project)
      mkdirSync(join(scratch.project.root, ".REPRISE"), { recursive: true })
      writeFileSync(join(scratch.project.root, ".REPRISE", "version.json"), "{}")
      git("add", "--force", ".REPRISE/version.json")
      assert.match(yield* refusal(), /git tracks files in it/)
    })
  )

  it.effect("that is a link, or has links in it, is refused and cannot be signed", () =>
    Effect.gen(function* () {
      yield* prepareState(scratch.project)
      renameSync(scratch.project.directory, join(scratch.folder, "elsewhere"))
      symlinkSync(join(scratch.folder, "elsewhere"), scratch.project.directory)
      assert.match(yield* refusal(), /it is a link/)
      assert.match((yield* Effect.flip(adoptState(scratch.project))).message, /cannot be signed: it is a link/)
      rmSync(scratch.project.directory)
      renameSync(join(scratch.folder, "elsewhere"), scratch.project.directory)
      symlinkSync(join(scratch.folder, ".bashrc"), inside("logs"))
      assert.match(yield* refusal(), /a link in it, logs/)
      rmSync(inside("logs"))
      rmSync(inside("origin.json"))
      mkdirSync(inside("logs"))
      symlinkSync(join(scratch.folder, ".bashrc"), inside("logs", "reprise.log"))
      assert.match((yield* Effect.flip(adoptState(scratch.project))).message, /a link in it, .*reprise\.log/)
      mkdirSync(inside("worktrees", "run", "node_modules"), { recursive: true })
      symlinkSync("..", inside("worktrees", "run", "node_modules", "me"))
      rmSync(inside("logs", "reprise.log"))
      assert.strictEqual(yield* adoptState(scratch.project), "signed", "worktrees may have links of their own")
    })
  )

  it.effect("that holds nothing but prompts needs no signature, but follows no link to them", () =>
    Effect.gen(function* () {
      mkdirSync(inside("prompts"), { recursive: true })
      writeFileSync(inside("prompts", "work.md"), "Work.")
      yield* requireOwnState(scratch.project)
      symlinkSync("/etc/passwd", inside("prompts", "review.md"))
      assert.match(yield* refusal(), /a link in it/)
      rmSync(inside("prompts", "review.md"))
      yield* prepareState(scratch.project)
      yield* requireOwnState(scratch.project)
    })
  )

  it.effect("is refused when git's folder or this machine's key cannot be believed", () =>
    Effect.gen(function* () {
      yield* prepareState(scratch.project)
      chmodSync(key(), 0o666)
      assert.match(yield* refusal(), /machine\.key, cannot be read: .* can be written by other users/)
      chmodSync(key(), 0o600)
      writeFileSync(key(), "short")
      assert.match(yield* refusal(), /machine\.key, is damaged/)
      writeFileSync(join(scratch.project.root, ".git", "index"), "damaged")
      assert.match(yield* refusal(), /git tracks files in it/)
    })
  )
})
