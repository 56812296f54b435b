import { assert, describe, it } from "@effect/vitest"
import { foldingFolder, type Names } from "../src/policy/caseFolding.ts"

/** A disk with these paths, of which those below `folding` are found in any case of letters. */
const disk = (paths: ReadonlyArray<string>, folding?: string): Names => {
  const isFolding = (path: string) => folding !== undefined && path.startsWith(`${folding}/`)
  return {
    isThere: async (path) =>
      paths.some((one) => one === path || (isFolding(path) && one.toLowerCase() === path.toLowerCase())),
    listed: async (folder) =>
      paths
        .filter((one) => one.startsWith(`${folder}/`))
        .map((one) => one.slice(folder.length + 1))
        .filter((name) => !name.includes("/"))
  }
}

const there = ["/mnt", "/mnt/c", "/mnt/c/me", "/mnt/c/me/work", "/mnt/c/me/work/.git", "/mnt/c/me/work/.git/HEAD"]

describe("a disk that takes any case of letters for the same name", () => {
  it.each<readonly [string, string | undefined, ReadonlyArray<string>, Names]>([
    ["from the mount point on", "/mnt/c", ["/mnt/c/me/work/.git"], disk(there, "/mnt/c")],
    ["a single folder of it", "/mnt/c/me/work", ["/mnt/c/me/work/.git"], disk(there, "/mnt/c/me/work")],
    ["by a file in capitals", "/mnt/c/me/work/.git", ["/mnt/c/me/work/.git/HEAD"], disk(there, "/mnt/c/me/work/.git")],
    ["not where names differ by it", undefined, ["/mnt/c/me/work/.git/HEAD"], disk(there)],
    [
      "not where a command made the other name",
      undefined,
      ["/mnt/c/me/work/.git"],
      disk([...there, "/mnt/c/me/work/.GIT"])
    ],
    ["not for what is missing", undefined, ["/mnt/c/me/work/.reprise"], disk(there)]
  ])("is found: %s", async (_, folder, paths, names) => {
    assert.strictEqual(await foldingFolder(paths, names), folder)
  })
})
