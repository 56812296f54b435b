import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import {
  ForeignFileRefused,
  readForeignEnd,
  readForeignFile,
  readForeignFolder,
  readForeignPart,
  readForeignText
} from "../src/index.ts"
import { oddFiles } from "../src/testing.ts"

let directory = ""
let file = ""
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reprise-foreign-"))
  file = join(directory, "file")
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const refusalOf = (reading: Promise<unknown>) =>
  reading.then(
    (value) => ({ value }),
    (error: unknown) => {
      if (!(error instanceof ForeignFileRefused)) throw error
      return { code: error.code, message: error.message }
    }
  )

const limits = { largestBytes: 10 }

describe("a file of somebody else's", () => {
  it("is read up to its limit, and not beyond it", async () => {
    writeFileSync(file, "0123456789")
    assert.strictEqual(await readForeignText(file, limits), "0123456789")
    writeFileSync(file, "0123456789a")
    assert.deepStrictEqual(await refusalOf(readForeignFile(file, limits)), {
      code: "EFBIG",
      message: `${file} has more than 10 bytes. Make it smaller, or remove it.`
    })
  })

  it("is undefined where there is none, also below another file", async () => {
    writeFileSync(file, "")
    assert.isUndefined(await readForeignFile(join(directory, "missing"), limits))
    assert.isUndefined(await readForeignFile(join(file, "below"), limits))
  })

  it("is read through a link of its name only where that is wished", async () => {
    writeFileSync(file, "text")
    symlinkSync(file, join(directory, "link"))
    assert.strictEqual(await readForeignText(join(directory, "link"), limits), "text")
    assert.deepStrictEqual(await refusalOf(readForeignText(join(directory, "link"), { ...limits, follow: false })), {
      code: "ELOOP",
      message: `${join(directory, "link")} is a link. Put a regular file there, or remove it.`
    })
  })

  it.each([
    ["a link of its name", () => symlinkSync(join(directory, "secret"), file), "is a link"],
    [
      "a link to a file beside it",
      () => {
        writeFileSync(join(directory, "root/logs/key"), "hush")
        symlinkSync("key", file)
      },
      "is a link"
    ],
    [
      "a link of the folder above it",
      () => {
        rmSync(join(directory, "root/logs"), { recursive: true })
        mkdirSync(join(directory, "other"))
        writeFileSync(join(directory, "other/file"), "hush")
        symlinkSync(join(directory, "other"), join(directory, "root/logs"))
      },
      "is reached by a link"
    ],
    ["a second name of another file", () => linkSync(join(directory, "secret"), file), "has a second name"]
  ])("is not read below a folder through %s", async (_, put, what) => {
    const root = join(directory, "root")
    mkdirSync(join(root, "logs"), { recursive: true })
    writeFileSync(join(directory, "secret"), "hush")
    file = join(root, "logs/file")
    put()
    for (const read of [readForeignText, readForeignEnd])
      assert.deepStrictEqual(await refusalOf(read(file, { ...limits, below: root })), {
        code: "ELOOP",
        message: `${file} ${what}. Put a regular file there, or remove it.`
      })
  })

  it("is read below a folder where it is itself, also when a link leads to the folder, and nowhere else", async () => {
    const root = join(directory, "root")
    mkdirSync(join(root, "logs"), { recursive: true })
    symlinkSync(root, join(directory, "way"))
    writeFileSync(join(root, "logs/file"), "text")
    for (const below of [root, `${root}/`, join(directory, "way")])
      assert.strictEqual(await readForeignText(join(below, "logs/file"), { ...limits, below }), "text")
    assert.isUndefined(await readForeignText(join(root, "missing"), { ...limits, below: root }))
    writeFileSync(file, "hush")
    for (const path of [file, join(root, "../file")])
      assert.deepInclude(await refusalOf(readForeignText(path, { ...limits, below: root })), { code: "ELOOP" })
  })

  it("is read from its end, which says how much stands before", async () => {
    writeFileSync(file, "0123456789abc")
    assert.deepStrictEqual(await readForeignEnd(file, limits), { text: "3456789abc", omitted: 3 })
    writeFileSync(file, "012")
    assert.deepStrictEqual(await readForeignEnd(file, limits), { text: "012", omitted: 0 })
  })

  it.each(oddFiles)("is refused where it is $name", async ({ code, put }) => {
    const remove = await put(file)
    try {
      const refused = await refusalOf(readForeignFile(file, limits))
      if (code === undefined) assert.deepStrictEqual(refused, { value: undefined })
      else assert.containSubset(refused, { code })
    } finally {
      remove()
    }
  })

  const growing = (addition: string) => ({ largestBytes: 10, check: async () => appendFileSync(file, addition) })

  it("is read with what is added meanwhile, and refused when that is too much", async () => {
    writeFileSync(file, "01234")
    assert.strictEqual(await readForeignText(file, growing("56789")), "0123456789")
    assert.containSubset(await refusalOf(readForeignText(file, growing("a"))), { code: "EFBIG" })
  })

  it("is read whole where it says that it has no size", async () => {
    assert.match((await readForeignText("/proc/self/status", { largestBytes: 100_000 })) ?? "", /^State:/m)
  })

  it("is given up when the time is over", async () => {
    writeFileSync(file, "")
    truncateSync(file, 1024 ** 3)
    const reading = readForeignFile(file, { largestBytes: 1024 ** 3, timeoutMs: 1 })
    assert.containSubset(await refusalOf(reading), { code: "ETIMEDOUT" })
  })

  it("is not read when a check of the open file throws", async () => {
    writeFileSync(file, "text")
    const refused = new Error("not this one")
    const read = readForeignFile(file, { ...limits, check: () => Promise.reject(refused) })
    assert.strictEqual(await read.catch((error: unknown) => error), refused)
  })

  it("that grows is read part by part, each as large as allowed", async () => {
    writeFileSync(file, "0123456789abc")
    const part = async (offset: number) => {
      const read = await readForeignPart(file, offset, limits)
      return read === undefined ? undefined : [read.bytes.toString(), read.size]
    }
    assert.deepStrictEqual(await part(0), ["0123456789", 13])
    assert.deepStrictEqual(await part(10), ["abc", 13])
    assert.deepStrictEqual(await part(20), ["", 13])
    rmSync(file)
    assert.isUndefined(await part(0))
  })
})

describe("a folder of somebody else's", () => {
  const names = async (mostEntries: number) =>
    (await readForeignFolder(directory, { mostEntries }))?.map(({ name }) => name).sort()

  it("is listed up to its limit, and not beyond it", async () => {
    writeFileSync(file, "")
    mkdirSync(join(directory, "folder"))
    assert.deepStrictEqual(await names(2), ["file", "folder"])
    assert.containSubset(await refusalOf(names(1)), { code: "ETOOMANY" })
  })

  it.each(oddFiles.filter(({ name }) => name !== "a directory"))(
    "is not waited for where it is $name",
    async ({ code, put }) => {
      const remove = await put(file)
      try {
        const listed = await refusalOf(readForeignFolder(file, { mostEntries: 1 }))
        if (code === undefined) assert.deepStrictEqual(listed, { value: undefined })
        else assert.containSubset(listed, { code: code === "ELOOP" ? code : "ENOTDIR" })
      } finally {
        remove()
      }
    }
  )
})
