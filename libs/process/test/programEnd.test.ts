import { homedir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { costlyLine } from "../src/costlyFile.ts"
import { memoryFor } from "../src/memoryLimit.ts"
import { namedIn } from "../src/namedByConfiguration.ts"
import { type Ending, faultOf, type Reason, reasonOf, reasons } from "../src/programEnd.ts"

const exit = (exitCode: number, stderr = "", hasMemoryLimit = true): Ending => ({
  ...{ _tag: "Exit", exitCode, stderr, hasMemoryLimit }
})
const late = (workedMs: number | undefined): Ending => ({ _tag: "Late", timeoutMs: 120_000, workedMs })

describe("how git ended", () => {
  const rows: ReadonlyArray<readonly [what: string, ending: Ending, reason: Reason | undefined]> = [
    ["success", exit(0), undefined],
    ["success with a warning about memory", exit(0, "warning: out of memory"), undefined],
    ["a refusal", exit(128, "fatal: not a git repository"), undefined],
    ["no", exit(1), undefined],
    [
      "no memory left by its own words",
      exit(128, "fatal: Out of memory, malloc failed (tried to allocate 9 bytes)"),
      "memory"
    ],
    ["no memory left to unfold an object", exit(128, "error: inflate: out of memory"), "memory"],
    ["no memory left to map a file", exit(128, "fatal: mmap failed: Cannot allocate memory"), "memory"],
    ["words about memory, without a limit", exit(128, "fatal: out of memory", false), undefined],
    ["a git that is not installed", exit(127, "exec: git: not found"), "not-found"],
    ["a git that may not be executed", exit(126, "exec: git: Permission denied"), "fault"],
    ["another program's exit code", exit(127, "", false), undefined],
    ["a stack that is full", { _tag: "Signal", signal: "SIGSEGV" }, "crash"],
    ["a mapped file that was cut", { _tag: "Signal", signal: "SIGBUS" }, "crash"],
    ["an assertion", { _tag: "Signal", signal: "SIGABRT" }, "crash"],
    ["a machine without memory, or a person", { _tag: "Signal", signal: "SIGKILL" }, "signal"],
    ["Ctrl-C", { _tag: "Signal", signal: "SIGINT" }, "signal"],
    ["work without an end", late(110_000), "busy"],
    ["work on a machine with much to do", late(15_000), "busy"],
    ["a disk that does not answer", late(300), "timeout"],
    ["a system that does not tell", late(undefined), "timeout"]
  ]
  it.each(rows)("is told apart: %s", (_, ending, reason) => assert.strictEqual(reasonOf(ending), reason))

  it("is the tree's doing or the host's, for every reason", () => {
    assert.deepStrictEqual(Object.fromEntries(reasons.map((reason) => [reason, faultOf(reason)])), {
      "not-found": "host",
      fault: "host",
      timeout: "host",
      signal: "host",
      busy: "tree",
      memory: "tree",
      output: "tree",
      crash: "tree",
      blocked: "tree"
    })
  })
})

describe("git's memory", () => {
  const gigabyte = 1024 ** 3
  it.each([
    ["a large machine", 64, undefined, 4],
    ["a small machine", 4, undefined, 2],
    ["a container of it", 64, 3, 1.5],
    ["a container without a limit", 64, 0, 4],
    ["a limit that is larger than the machine", 2, 2 ** 33, 1],
    ["a tiny machine", 0.25, undefined, 0.5]
  ])("is half of what there is, within limits: %s", (_, machine, container, expected) => {
    const limit = container === undefined ? undefined : container * gigabyte
    assert.strictEqual(memoryFor(machine * gigabyte, limit), expected * gigabyte)
  })
})

describe("what keeps git at work", () => {
  it.each([
    ["*.log\n/build/\n**/node_modules/**\n", undefined],
    ["# a\n*a*b*c*d*e*f*g\n", 2],
    ["**/a/**/b/**/*.d.*.ts\n", undefined],
    ["", undefined]
  ])("is a pattern with more asterisks than anybody needs: %j", (text, line) => {
    assert.strictEqual(costlyLine(text), line)
  })
})

describe("files that settings of git name", () => {
  const included = (path: string) => [{ path, isIncluded: true }]
  const opened = (path: string) => [{ path, isIncluded: false }]
  it.each([
    ["include.path\n../shared.inc", included("/tree/shared.inc")],
    ["include.path\n/tmp/a b", included("/tmp/a b")],
    ["includeif.gitdir:~/a.b\nc/.path\nshared.inc", []],
    ["includeif.gitdir:~/a.b/.path\nshared.inc", included("/tree/.git/shared.inc")],
    ["core.excludesfile\n~/ignored", opened(join(homedir(), "ignored"))],
    ["core.attributesfile\nattributes", opened("/tree/attributes")],
    ["include.path", []],
    ["core.excludesfile\n", []],
    ["branch.main.remote\norigin", []],
    ["remote.origin.url\n../other", []]
  ])("are found in %j", (record, named) => {
    const place = { file: "/tree/.git/config", top: "/tree" }
    assert.deepStrictEqual(namedIn(`core.bare\nfalse\0${record}\0`, place), named)
  })
})
