/** Which folders of the home folder a command sees as lists of what is not hidden. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach } from "vitest"
import { listedFolders } from "../src/policy/listedFolders.ts"

let home = ""
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "reprise-home-")))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const fill = (folder: string, entries: number) => {
  for (let at = 0; at < entries; at += 1) mkdirSync(join(home, folder, `e${at}`), { recursive: true })
}

const listed = async (keys: ReadonlyArray<string>, sockets: ReadonlyArray<string> = []) => {
  const inHome = (paths: ReadonlyArray<string>) => paths.map((path) => join(home, path))
  const found = await listedFolders([home], { keys: inHome(keys), sockets: inHome(sockets) })
  return found.map(({ path }) => path.slice(home.length + 1)).toSorted()
}

describe("the folders that are listed", () => {
  it("are all those on the way to a key, whether it is there or not, and the one of a socket", async () => {
    fill("a/b/c", 1)
    fill("x/y", 1)
    assert.deepStrictEqual(await listed(["a/b/key", "gone/deep/key"], ["x/y/socket"]), ["", "a", "a/b", "x/y"])
  })

  it("have 100 entries at most", async () => {
    fill("a", 100)
    fill("b", 101)
    assert.deepStrictEqual(await listed(["a/key", "b/key"]), ["", "a"])
  })

  it("have 200 entries together at most: the home folder's and the smallest ones", async () => {
    fill("a", 90)
    fill("b", 80)
    fill("c", 70)
    fill("", 40)
    assert.deepStrictEqual(await listed(["a/key", "b/key", "c/key"]), ["", "b", "c"])
  })
})
