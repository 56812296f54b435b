/** What is shown as the log of a quality gate, whatever a gate or an agent has put in its place. */
import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { oddFiles } from "@reprise/process/testing"
import { RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { gateLogs } from "../src/work/look/gateLog.ts"

const runId = RunId.make("r1")
const logRef = ".reprise/logs/r1/quality-phase1-attempt1-npm-test.log"
const secret = "the token of answerers"

let root = ""
let log = ""
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reprise-log-"))
  log = join(root, logRef)
  mkdirSync(join(root, ".reprise/logs/r1"), { recursive: true })
  writeFileSync(join(root, ".reprise/console.token"), secret)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const shown = (...refs: ReadonlyArray<string>) =>
  Effect.map(gateLogs(root, runId, refs), (logs) => logs.map(({ text }) => text).join("\n"))

const unreadable = "The log cannot be read."

describe("the log of a quality gate", () => {
  it.effect("is shown by its end, of which many share what one page takes", () =>
    Effect.gen(function* () {
      writeFileSync(log, `${"x".repeat(3 * 1024 * 1024)}\nfailed`)
      const [one] = yield* gateLogs(root, runId, [logRef])
      assert.deepStrictEqual([one?.name, one?.text.length, one?.omitted], [logRef, 2 * 1024 * 1024, 1024 * 1024 + 7])
      assert.isTrue(one?.text.endsWith("\nfailed"))
      const many = yield* gateLogs(
        root,
        runId,
        Array.from({ length: 64 }, () => logRef)
      )
      assert.strictEqual(
        many.reduce((sum, { text }) => sum + text.length, 0),
        8 * 1024 * 1024
      )
    })
  )

  const replacements: ReadonlyArray<readonly [string, () => void]> = [
    ["a link to a file of the system", () => symlinkSync("/etc/passwd", log)],
    ["a link to a file of .reprise", () => symlinkSync("../../console.token", log)],
    ["a link to what has no end", () => symlinkSync("/dev/zero", log)],
    ["a second name of a key", () => linkSync(join(root, ".reprise/console.token"), log)],
    [
      "a folder that is a link",
      () => {
        mkdirSync(join(root, "other"))
        linkSync(join(root, ".reprise/console.token"), join(root, "other", logRef.slice(logRef.lastIndexOf("/") + 1)))
        rmSync(join(root, ".reprise/logs/r1"), { recursive: true })
        symlinkSync(join(root, "other"), join(root, ".reprise/logs/r1"))
      }
    ],
    [
      "another .reprise",
      () => {
        writeFileSync(log, secret)
        renameSync(join(root, ".reprise"), join(root, "moved"))
        symlinkSync("moved", join(root, ".reprise"))
      }
    ]
  ]
  it.effect.each(replacements)("shows nothing of %s in its place", ([, put]) =>
    Effect.gen(function* () {
      put()
      assert.strictEqual(yield* shown(logRef), unreadable)
    })
  )

  it.live.each(oddFiles)("is not waited for where it is $name", ({ put }) =>
    Effect.gen(function* () {
      const remove = yield* Effect.promise(() => put(log))
      const text = yield* shown(logRef)
      remove()
      assert.notInclude(text, "root:")
      assert.isAtMost(text.length, 2 * 1024 * 1024)
    })
  )

  it.effect.each([
    "../.reprise/console.token",
    ".reprise/console.token",
    "/etc/passwd",
    ".reprise/logs/r2/quality-phase1-attempt1-npm-test.log",
    ".reprise/logs/r1/../../console.token",
    ".reprise/logs/r1/../r2/x.log",
    ".reprise/logs/r1/a/x.log",
    ".reprise/logs/r1/x.txt",
    ".reprise/logs/r1/.log\0.log",
    ""
  ])("is none of this run: %j", (ref) =>
    Effect.gen(function* () {
      mkdirSync(join(root, ".reprise/logs/r2"))
      writeFileSync(join(root, ".reprise/logs/r2/quality-phase1-attempt1-npm-test.log"), secret)
      assert.strictEqual(yield* shown(ref), unreadable)
    })
  )
})
