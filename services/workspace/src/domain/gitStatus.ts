/** Reads `git status --porcelain=v1 -z`. Pure. */

/** The paths of every entry, in git's order; of a rename both the new and the old one. Directories end in `/`. */
export const dirtyPaths = (porcelain: string): ReadonlyArray<string> => {
  const fields = porcelain.split("\0")
  const paths: Array<string> = []
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at]
    if (field === undefined || field.length < 4) continue
    paths.push(field.slice(3))
    // A rename or copy is followed by its origin, without a status of its own.
    if (/[RC]/.test(field.slice(0, 2))) {
      const origin = fields[++at]
      if (origin !== undefined && origin !== "") paths.push(origin)
    }
  }
  return paths
}
