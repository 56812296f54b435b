/** What the disk has at a path. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { find, makeLeadsTo } from "../src/disk/pathsOnDisk.ts"

describe("a path", () => {
  let root = ""
  const at = (name: string) => join(root, name)
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "reprise-found-")))
    mkdirSync(at("folder/inner"), { recursive: true })
    writeFileSync(at("folder/file"), "")
    symlinkSync("folder", at("link"))
    symlinkSync("nowhere", at("broken"))
    symlinkSync("round", at("round"))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it.each<[name: string, kind: "folder" | "file" | undefined, leads: string]>([
    ["folder", "folder", "folder"],
    ["folder/file", "file", "folder/file"],
    ["folder/file/below", undefined, "folder/file/below"],
    ["link", "folder", "folder"],
    ["link/file", "file", "folder/file"],
    ["link/none/deeper", undefined, "folder/none/deeper"],
    ["broken", undefined, "nowhere"],
    ["broken/below", undefined, "nowhere/below"],
    ["round", undefined, "round"]
  ])("is found where it leads: %s", (name, kind, leads) => {
    assert.deepStrictEqual(find(at(name)), kind && { path: at(leads), kind })
    assert.strictEqual(makeLeadsTo()(at(name)), at(leads))
  })
})
