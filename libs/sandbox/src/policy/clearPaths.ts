/** Paths that can be said on a line: what a command may not change is written down that way (`command/records.ts`). Pure. */
import type { Policy } from "./policy.ts"

/** A line break, and what a terminal would obey, is in nobody's names of such files. */
const unclear = /[\p{Cc}\p{Zl}\p{Zp}]/u

export const isClear = (path: string): boolean => !unclear.test(path)

export class UnclearPath extends Error {
  constructor(path: string) {
    super(
      `${JSON.stringify(path)} has a line break or another control character in its name, and programs outside of the sandbox ` +
        "would obey it, so no command runs here. A command may have made it: remove it, or give it another name."
    )
  }
}

/** Throws `UnclearPath`. */
export const requireClearPaths = (policy: Policy): void => {
  const { guarded, kept, links, mounts, workspace } = policy
  const written = [workspace, ...kept, ...guarded, ...links.map(({ path }) => path), ...mounts.map(({ path }) => path)]
  const path = written.find((one) => !isClear(one))
  if (path !== undefined) throw new UnclearPath(path)
}
