import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"

it("a folder for a moment goes with the next one if its process was killed, and not while its process lives", () => {
  const folder = mkdtempSync(join(tmpdir(), "reprise-temporary-"))
  const { pid } = spawnSync("/bin/true")
  const names = [`reprise-x-${pid}-dead`, `reprise-x-${process.pid}-alive`, "reprise-x-other", `reprise-y-${pid}-dead`]
  for (const name of names) mkdirSync(join(folder, name))
  writeFileSync(join(folder, names[0] ?? "", "file"), "")
  const module = join(import.meta.dirname, "../src/temporaryFolder.ts")
  const script = `const { makeTemporaryFolder } = await import(${JSON.stringify(module)}); await makeTemporaryFolder("x")`
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    env: { ...process.env, TMPDIR: folder },
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
  const left = names.map((name) => existsSync(join(folder, name)))
  rmSync(folder, { recursive: true })
  assert.deepStrictEqual(left, [false, true, true, true])
})
