import { assert, describe, it } from "@effect/vitest"
import { refusedPathsIn } from "../src/refused/refusedPaths.ts"

const said: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
  ["touch: cannot touch '/root/x': Read-only file system", ["/root/x"]],
  ["mkdir: cannot create directory ‘/root/a b’: Read-only file system", ["/root/a b"]],
  ["mv: cannot move '/work/a' to '/root/n': Read-only file system", ["/root/n"]],
  ["/bin/bash: line 1: /root/y: Read-only file system", ["/root/y"]],
  ["bash: line 1: /root/my data/y: Read-only file system", ["/root/my data/y"]],
  ["sh: 1: cannot create /root/y: Read-only file system", ["/root/y"]],
  ["tee: /root/t: Read-only file system", ["/root/t"]],
  ["tar: /root/a.tar: Cannot open: Read-only file system", ["/root/a.tar"]],
  ["fatal: cannot mkdir /root/r: Read-only file system", ["/root/r"]],
  ["error: could not lock config file /root/.gitconfig: Read-only file system", ["/root/.gitconfig"]],
  ["fatal: Unable to create '/other/.git/index.lock': Read-only file system", ["/other/.git/index.lock"]],
  ["OSError: [Errno 30] Read-only file system: '/root/py'", ["/root/py"]],
  ["OSError: [Errno 30] Read-only file system: '/etc/hostname' -> '/root/py'", ["/root/py"]],
  ["Error: EROFS: read-only file system, open '/root/node'", ["/root/node"]],
  ["open /root/go: read-only file system", ["/root/go"]],
  ["a.rb:1:in `initialize': Read-only file system @ rb_sysopen - /root/rb (Errno::EROFS)", ["/root/rb"]],
  ["java.io.FileNotFoundException: /root/j (Read-only file system)", ["/root/j"]],
  ["Read-only file system: /root/p at -e line 1.", ["/root/p"]],
  // Nothing that can be told.
  ["touch: cannot touch 'relative': Read-only file system", []],
  ["Error: Read-only file system (os error 30)", []],
  ["  code: 'EROFS',", []],
  ["touch: cannot touch '/root/x': Permission denied", []],
  ["touch: cannot touch '/root/\u001b[2J': Read-only file system", []]
]

describe("what a command says of files that it may not write", () => {
  it.each(said)("%s", (line, paths) => {
    assert.deepStrictEqual(refusedPathsIn(`before\n${line}\nafter`), [...paths])
  })

  it("is each path once, of all lines", () => {
    const line = "touch: cannot touch '/root/x': Read-only file system"
    assert.deepStrictEqual(refusedPathsIn(`${line}\r\n${line}\ntee: /root/t: Read-only file system`), [
      "/root/x",
      "/root/t"
    ])
  })

  it("is never more than twenty paths, however much is said, and is read in no time", () => {
    const many = Array.from({ length: 5000 }, (_, n) => `tee: /root/${n}: Read-only file system`).join("\n")
    assert.strictEqual(refusedPathsIn(many).length, 20)
    const hostile = `EROFS ${" /".repeat(2000)}`
    assert.deepStrictEqual(refusedPathsIn(`${hostile}\n`.repeat(20)), [])
    assert.deepStrictEqual(refusedPathsIn(`/${"a".repeat(5000)}: Read-only file system`), [])
  })
})
