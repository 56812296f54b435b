/**
 * The command line and the services as buildings with floors. A folder imports from its own floor or one below; an arrow
 * upward or a circle makes it impossible to read one part without the others (docs/design/architecture.md#layout).
 */
import type { Sources } from "./sources.ts"

export interface Import {
  readonly from: string
  readonly to: string
}

export interface Building {
  readonly root: string
  /** From the top down. Folders of one floor may import each other, but not in a circle. */
  readonly floors: ReadonlyArray<ReadonlyArray<string>>
  /** The folder whose folders count as folders of their own. */
  readonly divided?: string
}

const entries = ["main", "index"]

export const buildings: ReadonlyArray<Building> = [
  {
    root: "cli/src",
    floors: [["main"], ["commands"], ["flows"], ["system"], ["views", "config", "trust", "project"], ["terminal"]],
    divided: "flows"
  },
  {
    root: "services/orchestrator/src",
    floors: [
      ...[entries, ["service"], ["work"], ["machine"], ["watch"], ["control"], ["question"]],
      ...[["author", "quality", "review", "phase"], ["checkpoint"], ["limits"], ["agents", "prompt"], ["run"]]
    ]
  },
  {
    root: "services/session-manager/src",
    floors: [
      ...[entries, ["service"], ["work"], ["machine"], ["agent", "lifecycle"], ["turn"], ["prompts"], ["session"]],
      ["settings"]
    ]
  },
  {
    root: "services/gate/src",
    floors: [
      ...[entries, ["service"], ["work"], ["notifications", "typedAnswer"], ["console"], ["actor"], ["notify"]],
      ["namedAgent", "resolveChoice", "whyAsked"]
    ]
  },
  { root: "services/reviewer/src", floors: [entries, ["service"], ["actor"], ["prompts"]] },
  { root: "services/workspace/src", floors: [entries, ["service"], ["work"], ["actor"]] }
]

/** A folder of the building's root, or in its divided folder one level deeper; a file of the root is a folder of its own. */
export const folderOf = ({ divided, root }: Building, path: string): string => {
  const [first = "", second = "", ...rest] = path.slice(root.length + 1).split("/")
  if (second === "") return first.replace(/\.ts$/, "")
  return first === divided && rest.length > 0 ? `${first}/${second}` : first
}

const floorOf = ({ floors }: Building, folder: string): number =>
  floors.findIndex((names) => names.includes(folder.split("/")[0] ?? ""))

/** The imports between the building's own files. */
export const importsIn = ({ root }: Building, imports: ReadonlyArray<Import>): ReadonlyArray<Import> =>
  imports.filter(({ from, to }) => from.startsWith(`${root}/`) && to.startsWith(`${root}/`))

/** The arrows between different folders, each once, in order. */
export const folderArrows = (building: Building, imports: ReadonlyArray<Import>): ReadonlyArray<Import> => {
  const arrows = new Map<string, Import>()
  for (const { from, to } of importsIn(building, imports)) {
    const arrow = { from: folderOf(building, from), to: folderOf(building, to) }
    if (arrow.from !== arrow.to) arrows.set(`${arrow.from} → ${arrow.to}`, arrow)
  }
  return [...arrows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, arrow]) => arrow)
}

/** Arrows that lead to a higher floor, or from or to a folder that has no floor. */
export const upwardArrows = (building: Building, arrows: ReadonlyArray<Import>): ReadonlyArray<Import> =>
  arrows.filter(({ from, to }) => {
    const floors = [floorOf(building, from), floorOf(building, to)] as const
    return floors.includes(-1) || floors[1] < floors[0]
  })

/** Two that import each other, each pair once. */
export const pairsBothWays = (arrows: ReadonlyArray<Import>): ReadonlyArray<Import> =>
  arrows.filter(({ from, to }) => from < to && arrows.some((other) => other.from === to && other.to === from))

/** Those that can be reached from themselves, as groups that reach each other. */
export const circlesOf = (arrows: ReadonlyArray<Import>): ReadonlyArray<ReadonlyArray<string>> => {
  const next = Map.groupBy(arrows, ({ from }) => from)
  const names = [...new Set(arrows.flatMap(({ from, to }) => [from, to]))].sort()
  const reach = new Map(names.map((name) => [name, reachableFrom(name, next)]))
  const reaches = (from: string, to: string) => reach.get(from)?.has(to) === true
  const circles = names
    .filter((name) => reaches(name, name))
    .map((name) => names.filter((other) => reaches(name, other) && reaches(other, name)))
  return [...new Map(circles.map((circle) => [circle.join(" "), circle])).values()]
}

const reachableFrom = (start: string, next: ReadonlyMap<string, ReadonlyArray<Import>>): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = [start]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const { to } of next.get(name) ?? []) {
      if (found.has(to)) continue
      found.add(to)
      open.push(to)
    }
  }
  return found
}

/** Services that have a folder `src`, but no floors here. */
export const withoutFloors = (sources: Sources): ReadonlyArray<string> => {
  const roots = [...sources.keys()].flatMap((path) => /^services\/[^/]+\/src(?=\/)/.exec(path)?.[0] ?? [])
  return [...new Set(roots)].filter((root) => buildings.every((building) => building.root !== root))
}
