import { createHash } from "node:crypto"
import { join } from "node:path"
import type { Place } from "../../actor/work.ts"

const parent = (root: string) => join(root, ".reprise", "trees")
const nameOf = (directory: string) => createHash("sha256").update(directory).digest("hex").slice(0, 16)

/** Where Reprise keeps its own index of a working tree: no command in the sandbox sees it. */
export const ownTreeFolder = ({ directory, root }: Pick<Place, "directory" | "root">): string =>
  join(parent(root), nameOf(directory))
