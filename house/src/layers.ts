/**
 * The folders of the command line as layers. A folder imports from its own layer or one below; an arrow upward or a
 * circle of folders makes it impossible to read one without the others (docs/design/architecture.md#layout).
 */
export interface Import {
  readonly from: string
  readonly to: string
}

/** From the top down. Folders of one layer may import each other, but not in a circle. */
const layers: ReadonlyArray<ReadonlyArray<string>> = [
  ["main"],
  ["commands"],
  ["flows"],
  ["system"],
  ["views", "config", "trust", "project"],
  ["terminal"]
]

/** `cli/src/flows/run/follow.ts` is in `flows/run`; every other file is in the first folder of its path. */
export const folderOf = (path: string): string => {
  const [first = "", second = "", ...rest] = path.replace(/^cli\/src\//, "").split("/")
  if (second === "") return first.replace(/\.ts$/, "")
  return first === "flows" && rest.length > 0 ? `${first}/${second}` : first
}

const layerOf = (folder: string): number => layers.findIndex((names) => names.includes(folder.split("/")[0] ?? ""))

/** The arrows between different folders, each once, in order. */
export const folderArrows = (imports: ReadonlyArray<Import>): ReadonlyArray<Import> => {
  const arrows = new Map<string, Import>()
  for (const { from, to } of imports) {
    const arrow = { from: folderOf(from), to: folderOf(to) }
    if (arrow.from !== arrow.to) arrows.set(`${arrow.from} → ${arrow.to}`, arrow)
  }
  return [...arrows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, arrow]) => arrow)
}

/** Arrows that lead to a higher layer, or from or to a folder that has no layer. */
export const upwardArrows = (arrows: ReadonlyArray<Import>): ReadonlyArray<Import> =>
  arrows.filter(({ from, to }) => layerOf(from) === -1 || layerOf(to) === -1 || layerOf(to) < layerOf(from))

/** The folders that can be reached from themselves, as groups that reach each other. */
export const folderCircles = (arrows: ReadonlyArray<Import>): ReadonlyArray<ReadonlyArray<string>> => {
  const folders = [...new Set(arrows.flatMap(({ from, to }) => [from, to]))].sort()
  const reach = new Map(folders.map((folder) => [folder, reachableFrom(folder, arrows)]))
  const reaches = (from: string, to: string) => reach.get(from)?.has(to) === true
  const circles = folders
    .filter((folder) => reaches(folder, folder))
    .map((folder) => folders.filter((other) => reaches(folder, other) && reaches(other, folder)))
  return [...new Map(circles.map((circle) => [circle.join(" "), circle])).values()]
}

const reachableFrom = (start: string, arrows: ReadonlyArray<Import>): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = [start]
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { from, to } of arrows) {
      if (from !== folder || found.has(to)) continue
      found.add(to)
      open.push(to)
    }
  }
  return found
}
