import { spawnSync } from "node:child_process"
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"

const module = join(import.meta.dirname, "../src/temporaryFolder.ts")
const script = `const { makeTemporaryFolder } = await import(${JSON.stringify(module)}); await makeTemporaryFolder("x")`

/** Lets a process make a temporary folder below this one. */
const makeOneBelow = (folder: string) => {
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, TMPDIR: folder },
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
}

it("a folder for a moment goes with the next one if its process was killed, and not while its process lives", () => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-temporary-"))
  const { pid } = spawnSync("/bin/true")
  const names = [`reprise-x-${pid}-dead`, `reprise-x-${process.pid}-alive`, "reprise-x-other", `reprise-y-${pid}-dead`]
  for (const name of names) mkdirSync(join(folder, name), { mode: 0o700 })
  writeFileSync(join(folder, names[0] ?? "", "file"), "")
  makeOneBelow(folder)
  const left = names.map((name) => existsSync(join(folder, name)))
  rmSync(folder, { recursive: true })
  assert.deepStrictEqual(left, [false, true, true, true])
})

/** What another user can make at our name, to have something else removed through it. */
const foreign: Array<readonly [string, (path: string, kept: string) => void]> = [
  [
    "a folder in which others can exchange names",
    (path) => {
      mkdirSync(path)
      chmodSync(path, 0o777)
    }
  ],
  ["a link", (path, kept) => symlinkSync(kept, path)]
]
// Only root can give a folder away.
if (process.getuid?.() === 0) {
  foreign.push([
    "a folder of another user's",
    (path) => {
      mkdirSync(path, { mode: 0o700 })
      chownSync(path, 65534, 65534)
    }
  ])
}

it.each(foreign)("%s at the name of a dead process's temporary folder stays, with what is in it", (_, make) => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-temporary-"))
  const { pid } = spawnSync("/bin/true")
  const kept = join(folder, "kept")
  const path = join(folder, `reprise-x-${pid}-dead`)
  mkdirSync(kept, { mode: 0o700 })
  make(path, kept)
  writeFileSync(join(path, "file"), "")
  makeOneBelow(folder)
  const left = existsSync(join(path, "file"))
  rmSync(folder, { recursive: true })
  assert.isTrue(left)
})
