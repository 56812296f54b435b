/**
 * Files of Git LFS that commands added. Git LFS checks no content when it checks a file out, so a file is taken into the repository only
 * if it is one, and if its content has its name.
 */
import { randomUUID } from "node:crypto"
import { mkdir, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { exists } from "../disk/pathsOnDisk.ts"
import { copyForeign, namesIn } from "./foreignCopies.ts"

/** Of a folder `lfs`: `objects/ab/cd/abcd…`. */
const filesIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const files: Array<string> = []
  for (const objects of await namesIn(folder, /^objects$/))
    for (const first of await namesIn(join(folder, objects), /^[0-9a-f]{2}$/))
      for (const second of await namesIn(join(folder, objects, first), /^[0-9a-f]{2}$/))
        for (const name of await namesIn(join(folder, objects, first, second), /^[0-9a-f]{64}$/))
          if (name.startsWith(`${first}${second}`)) files.push(join(objects, first, second, name))
  return files
}

/** `from`, `to`: folders `lfs` of a clone and of its repository. What is no file, or has another content, stays where it is. */
export const takeLargeFiles = async (from: string, to: string): Promise<void> => {
  for (const path of await filesIn(from)) {
    if (exists(join(to, path))) continue
    await mkdir(join(to, "tmp"), { recursive: true })
    const draft = join(to, "tmp", `reprise-${randomUUID()}`)
    try {
      const hash = await copyForeign(join(from, path), draft).catch(() => "")
      if (!path.endsWith(`/${hash}`)) continue
      await mkdir(dirname(join(to, path)), { recursive: true })
      await rename(draft, join(to, path))
    } finally {
      await rm(draft, { force: true })
    }
  }
}
