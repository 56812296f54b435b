import { createHash } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import type { Place } from "../../actor/work.ts"

type Tree = Pick<Place, "directory" | "root">

/** Where Reprise keeps its own index of a working tree: no command in the sandbox sees it. */
export const ownTreeFolder = ({ directory, root }: Tree): string =>
  join(root, ".reprise", "trees", createHash("sha256").update(directory).digest("hex").slice(0, 16))

/** With those of submodules, whose names begin with it. */
export const removeOwnTreeFolder = async (tree: Tree): Promise<void> => {
  const folder = ownTreeFolder(tree)
  const parent = dirname(folder)
  for (const name of await readdir(parent).catch(() => [])) {
    if (name.startsWith(basename(folder))) await rm(join(parent, name), { recursive: true, force: true })
  }
}
