/** What stays of a clone whose commits could not be taken in: its objects, and nothing else that a command wrote. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import type { ClonedDirectory } from "./clonePlaces.ts"
import { copyForeign, namesIn } from "./foreignCopies.ts"

/** Files by the names that git gives them. */
const objectName = /^([0-9a-f]{38}|[0-9a-f]{62}|pack-[0-9a-f]{40,64}\.(pack|idx))$/

const copyObjects = async (from: string, to: string): Promise<void> => {
  for (const folder of await namesIn(from, /^(pack|[0-9a-f]{2})$/)) {
    await mkdir(join(to, folder), { recursive: true, mode: 0o700 })
    for (const name of await namesIn(join(from, folder), objectName))
      await copyForeign(join(from, folder, name), join(to, folder, name)).catch(() => undefined)
  }
}

/** Copies them to a new folder, in which no git finds a repository: those of submodules, too. */
export const saveObjects = async (directories: ReadonlyArray<ClonedDirectory>, folder: string): Promise<void> => {
  for (const [index, { to }] of directories.entries())
    await copyObjects(join(to, "objects"), index === 0 ? folder : join(folder, `submodule-${index}`))
}
