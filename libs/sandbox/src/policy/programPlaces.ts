/**
 * Where programs are that a person, or Reprise, starts by their names outside of the sandbox: the folders of `PATH`, and what
 * links in them lead to (docs/design/workspace.md#sandbox). Reads only.
 */
import { isAbsolute, join } from "node:path"
import { makeLeadsTo } from "../disk/pathsOnDisk.ts"
import { entriesIn } from "./foldersOfUser.ts"
import { isWithin } from "./mounts.ts"

const linksIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const entries = await entriesIn(folder)
  return entries.flatMap((entry) => (entry.isSymbolicLink() ? [join(folder, entry.name)] : []))
}

/** The folders as they are named, and where they lead, whether something is there or not. `searched`: of a `PATH`. */
export const programFolders = (searched: ReadonlyArray<string>): ReadonlyArray<string> => {
  const named = searched.filter((folder) => isAbsolute(folder))
  return [...new Set([...named, ...named.map(makeLeadsTo())])]
}

/**
 * What of them lies in places that are `written` besides the workspace, which a person may have allowed as a whole. A place
 * that is allowed by its own name stays so. All real. Rejected as `entriesIn`.
 */
export const programPlaces = async (
  searched: ReadonlyArray<string>,
  written: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  if (written.length === 0) return []
  const folders = programFolders(searched)
  const links = (await Promise.all(folders.map(linksIn))).flat()
  const places = [...folders, ...links].map(makeLeadsTo())
  const isWritten = (path: string) => written.some((folder) => path !== folder && isWithin(path, folder))
  return [...new Set(places)].filter((path) => isWritten(path) && !written.some((folder) => isWithin(folder, path)))
}
