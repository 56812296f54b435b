/**
 * Files of Git LFS that commands added. Git LFS checks no content when it checks a file out, so a file is taken into the repository only
 * if it is one, and if its content has its name.
 */
import { createHash, randomUUID } from "node:crypto"
import { lstat, mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { readForeignFolder, readForeignPart } from "@reprise/process"
import { exists } from "../disk/pathsOnDisk.ts"

const partBytes = 8 * 1024 * 1024
const mostEntries = 100_000

const namesIn = async (folder: string, pattern: RegExp): Promise<ReadonlyArray<string>> =>
  ((await readForeignFolder(folder, { mostEntries })) ?? [])
    .map(({ name }) => name)
    .filter((name) => pattern.test(name))

/** Below the folder of objects: `ab/cd/abcd…`. */
const filesIn = async (objects: string): Promise<ReadonlyArray<string>> => {
  const files: Array<string> = []
  for (const first of await namesIn(objects, /^[0-9a-f]{2}$/))
    for (const second of await namesIn(join(objects, first), /^[0-9a-f]{2}$/))
      for (const name of await namesIn(join(objects, first, second), /^[0-9a-f]{64}$/))
        if (name.startsWith(`${first}${second}`)) files.push(join(first, second, name))
  return files
}

/** A file with holes may be larger than any disk, and nobody's. */
const isWhole = async (path: string): Promise<boolean> => {
  const { blocks, size } = await lstat(path)
  return blocks * 512 >= size
}

/** Copies a file, and gives the hash of what was copied. */
const copied = async (from: string, draft: string): Promise<string> => {
  const hash = createHash("sha256")
  const file = await open(draft, "wx", 0o644)
  try {
    for (let offset = 0; ; ) {
      const part = await readForeignPart(from, offset, { largestBytes: partBytes, follow: false })
      if (part === undefined || part.bytes.length === 0) break
      hash.update(part.bytes)
      await file.write(part.bytes)
      offset += part.bytes.length
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest("hex")
}

/** Those of git, from a folder of objects to another one: files by the names that git gives them, none through a link. */
export const copyObjects = async (from: string, to: string): Promise<void> => {
  for (const folder of await namesIn(from, /^(pack|[0-9a-f]{2})$/)) {
    await mkdir(join(to, folder), { recursive: true })
    for (const name of await namesIn(
      join(from, folder),
      /^([0-9a-f]{38}|[0-9a-f]{62}|pack-[0-9a-f]{40,64}\.(pack|idx))$/
    ))
      if (await isWhole(join(from, folder, name)).catch(() => false))
        await copied(join(from, folder, name), join(to, folder, name)).catch(() => undefined)
  }
}

/** `from`, `to`: folders `lfs` of a clone and of its repository. What is no file, or has another content, stays where it is. */
export const takeLargeFiles = async (from: string, to: string): Promise<void> => {
  const own = join(to, "objects")
  if ((await namesIn(from, /^objects$/)).length === 0) return
  for (const path of await filesIn(join(from, "objects"))) {
    const source = join(from, "objects", path)
    if (exists(join(own, path)) || !(await isWhole(source).catch(() => false))) continue
    await mkdir(join(to, "tmp"), { recursive: true })
    const draft = join(to, "tmp", `reprise-${randomUUID()}`)
    try {
      if ((await copied(source, draft).catch(() => "")) !== path.slice(-64)) continue
      await mkdir(dirname(join(own, path)), { recursive: true })
      await rename(draft, join(own, path))
    } finally {
      await rm(draft, { force: true })
    }
  }
}
