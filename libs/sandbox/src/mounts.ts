/** What lies where for a command. Pure. */

/** Where a command finds a path, the later one on top. */
export interface Mount {
  readonly path: string
  readonly as: "writable" | "readable" | "hidden-file" | "hidden-folder"
  /** The folder that is seen there; absent: the path itself. */
  readonly from?: string
}

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`)
