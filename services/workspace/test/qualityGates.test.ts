import { assert, describe, it } from "@effect/vitest"
import { childEnvironment, commandEnvironment } from "@reprise/process"
import { gateOutput, PhaseId, RunId } from "@reprise/protocol"
import { Schema } from "effect"
import { commandSlugs, postCreateLog, qualityLog, verifyLog } from "../src/work/qualityGates/logNames.ts"
import { addOutput, emptyWindow, windowText } from "../src/work/qualityGates/OutputWindow.ts"

const result = { command: "make", exitCode: 1, durationMs: 1, timedOut: false, logRef: "x.log" }

describe("the window of an output", () => {
  const shown = (text: string, sizeBytes: number, chunkBytes: number) => {
    const bytes = new TextEncoder().encode(text)
    let window = emptyWindow(sizeBytes)
    for (let at = 0; at < bytes.length; at += chunkBytes)
      window = addOutput(window, bytes.subarray(at, at + chunkBytes))
    return windowText(window)
  }

  it.each([1, 2, 3, 7, 100])(
    "keeps the beginning and the end of an output that comes in chunks of %i bytes",
    (chunk) => {
      assert.deepStrictEqual(shown("abcdefghijklmnop", 4, chunk), { head: "abcd", tail: "mnop" })
      assert.deepStrictEqual(shown("abcdefghi", 4, chunk), { head: "abcd", tail: "fghi" })
      assert.deepStrictEqual(shown("abcdefgh", 4, chunk), { head: "abcd", tail: "efgh", overlap: 0 })
      assert.deepStrictEqual(shown("abcdef", 4, chunk), { head: "abcd", tail: "cdef", overlap: 2 })
      assert.deepStrictEqual(shown("abcd", 4, chunk), { head: "abcd", tail: "abcd", overlap: 4 })
      assert.deepStrictEqual(shown("abc", 4, chunk), { head: "abc", tail: "abc", overlap: 3 })
      assert.deepStrictEqual(shown("", 4, chunk), { head: "", tail: "", overlap: 0 })
    }
  )

  it.each([1, 3, 5])("cuts no character in two when chunks have %i bytes", (chunk) => {
    assert.deepStrictEqual(shown("aäöüß€😀z", 4, chunk), { head: "aä", tail: "z" })
    assert.deepStrictEqual(shown("ab€cd", 4, chunk), { head: "ab", tail: "€cd", overlap: 0 })
  })

  it.prop("shows a short output whole, without repeating any part", [Schema.String], ([text]) => {
    const window = shown(text, 64, 5)
    if (new TextEncoder().encode(text).length <= 128) {
      assert.strictEqual(gateOutput({ ...result, ...window }), text.toWellFormed())
    }
  })
})

describe("names of log files", () => {
  it("are different for every command and safe as a path", () => {
    const slugs = commandSlugs(["npm test", "npm  test!", "../../x", "; rm -rf /", "…"])
    assert.deepStrictEqual(slugs, ["npm-test", "npm-test-2", "x", "rm-rf", "command"])
    const run = RunId.make("r1")
    const phase = PhaseId.make("2.1")
    assert.deepStrictEqual(
      [qualityLog(run, phase, 3, "npm-test"), verifyLog(run, phase, 3, "npm-test"), postCreateLog(run, "npm-ci")],
      [
        ".reprise/logs/r1/quality-phase2.1-attempt3-npm-test.log",
        ".reprise/logs/r1/verify-phase2.1-checkpoint3-npm-test.log",
        ".reprise/logs/r1/post-create-npm-ci.log"
      ]
    )
  })
})

describe("the environment of quality gates", () => {
  const host = {
    PATH: "/bin",
    LC_ALL: "C",
    XDG_CACHE_HOME: "/cache",
    ANTHROPIC_API_KEY: "key",
    OPENAI_API_KEY: "key",
    AWS_SECRET_ACCESS_KEY: "key",
    GITHUB_TOKEN: "key",
    HTTPS_PROXY: "http://me:key@proxy",
    DATABASE_URL: "postgres://me:key@host",
    NATS_URL: "nats://me:key@host"
  }

  it("has the usual variables and no key of the user's", () => {
    assert.deepStrictEqual(commandEnvironment(host, []), { PATH: "/bin", LC_ALL: "C", XDG_CACHE_HOME: "/cache" })
  })

  it("has the variables that are named, except Reprise's own credentials", () => {
    assert.deepStrictEqual(commandEnvironment(host, ["DATABASE_URL", "NATS_URL", "ABSENT"]), {
      PATH: "/bin",
      LC_ALL: "C",
      XDG_CACHE_HOME: "/cache",
      DATABASE_URL: "postgres://me:key@host"
    })
  })
})

describe("the environment of git", () => {
  it("has no variables of git, Reprise, the broker or OpenCode, and all others", () => {
    assert.deepStrictEqual(
      childEnvironment({
        PATH: "/bin",
        DATABASE_URL: "x",
        GITHUB_TOKEN: "y",
        GIT_DIR: "z",
        REPRISE_NATS: "z",
        NATS_URL: "z",
        OPENCODE_SERVER_PASSWORD: "z",
        ABSENT: undefined
      }),
      { PATH: "/bin", DATABASE_URL: "x", GITHUB_TOKEN: "y" }
    )
  })
})
