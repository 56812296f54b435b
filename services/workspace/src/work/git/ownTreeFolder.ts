import { readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { treeFolder } from "@reprise/process"
import type { Place } from "../../actor/work.ts"

type Tree = Pick<Place, "directory" | "root">

/** Where Reprise keeps its own index of a working tree: no command in the sandbox sees it. */
export const ownTreeFolder = ({ directory, root }: Tree): string => treeFolder(join(root, ".reprise"), directory)

/** With those of submodules, whose names begin with it. */
export const removeOwnTreeFolder = async (tree: Tree): Promise<void> => {
  const folder = ownTreeFolder(tree)
  const parent = dirname(folder)
  for (const name of await readdir(parent).catch(() => [])) {
    if (name.startsWith(basename(folder))) await rm(join(parent, name), { recursive: true, force: true })
  }
}
