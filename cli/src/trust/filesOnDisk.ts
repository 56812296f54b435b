/** Which files stand at some places of a working tree, whether git knows them or not. Reads names only. */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import { readForeignFolder } from "@reprise/process"

/** OpenCode installs there what its plugins need. */
const isInstalled = (name: string) => name === "node_modules"

const mostEntries = 20_000

/** A folder that cannot be listed stands for all that is in it. */
const filesIn = async (directory: string, path: string): Promise<ReadonlyArray<string>> => {
  const entries = await readForeignFolder(join(directory, path), { mostEntries }).catch(() => undefined)
  if (entries === undefined) return [path]
  const inner = entries
    .filter(({ name }) => !isInstalled(name))
    .map((entry) => {
      const at = `${path}/${entry.name}`
      return entry.isDirectory() ? filesIn(directory, at) : [at]
    })
  return (await Promise.all(inner)).flat()
}

/** The files at or below some places, relative to the directory; links are not followed. */
export const filesAt = async (directory: string, places: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found = places.map(async (place) => {
    const stats = await lstat(join(directory, place)).catch(() => undefined)
    if (stats === undefined) return []
    return stats.isDirectory() ? await filesIn(directory, place) : [place]
  })
  return (await Promise.all(found)).flat()
}
