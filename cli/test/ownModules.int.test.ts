/** Where modules are looked for that Reprise does not bring along. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "@effect/vitest"

const home = mkdtempSync(join(tmpdir(), "reprise-modules-"))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const bin = fileURLToPath(new URL("../bin/", import.meta.url))

const plant = (folder: string) => {
  const path = join(home, folder, "planted/index.js")
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, "module.exports = 'planted'")
}

/** What a module is that a program asks for after the start of Reprise has seen to where modules are. */
const askedFor = (variables: Readonly<Record<string, string>>) => {
  const script = `
    import { createRequire } from "node:module"
    await import(${JSON.stringify(join(bin, "ownModules.js"))})
    try { console.log(createRequire(${JSON.stringify(join(bin, "reprise.js"))})("planted")) } catch (error) { console.log(error.code) }
    console.log(process.env.HOME, process.env.NODE_PATH)
  `
  const env = { PATH: process.env["PATH"], HOME: home, ...variables }
  return spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8", env, cwd: home }).stdout
}

describe("modules that Reprise does not bring along", () => {
  it("are not taken from the folders of NODE_PATH, nor from the home folder", () => {
    plant("modules")
    plant(".node_modules")
    assert.strictEqual(askedFor({}), `MODULE_NOT_FOUND\n${home} undefined\n`)
    const modules = join(home, "modules")
    assert.strictEqual(askedFor({ NODE_PATH: modules }), `MODULE_NOT_FOUND\n${home} ${modules}\n`)
  })

  it("are looked for after that, whatever the launcher imports", () => {
    const imports = readFileSync(join(bin, "reprise.js"), "utf8").match(/^import .*$/gm)
    assert.strictEqual(imports?.[0], 'import "./ownModules.js"')
  })
})
