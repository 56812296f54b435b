/** For tests: tries to write what programs outside of the sandbox obey, for every file of the one list. */
import { basename, dirname, join } from "node:path"
import { commandFilesOf, type ReadBy } from "../policy/commandFiles.ts"
import { canary } from "./scene.ts"
import { type Escape, has } from "./tries.ts"

/** A file of the list, or one in a folder of it. */
const fileAt = (path: string): string =>
  basename(path).lastIndexOf(".") > 0 || path.endsWith("rc") ? path : `${path}/settings.json`

const readers: ReadonlyArray<readonly [ReadBy, string]> = [
  ["reprise", "Reprise"],
  ["opencode", "OpenCode"],
  ["claude", "Claude"],
  ["npm", "npm"],
  ["agents", "other agents"],
  ["editors", "editors"],
  ["prompts", "prompts"]
]

/** Of each reader one try, since there are many files: each is written, and over again in folders that are made anew. */
const escapesOf = ([reader, name]: readonly [ReadBy, string]): ReadonlyArray<Escape> => {
  const paths = commandFilesOf(reader).map(fileAt)
  const writes = paths.map((path) => `mkdir -p ${dirname(path)}; echo '# ${canary}' > ${path}`)
  const again = paths.map((path) => path.split("/")[0] ?? path).map((top) => `mv ${top} out-${top}`)
  const isThere = ({ workspace }: Parameters<Escape["escaped"]>[0]) => paths.some((path) => has(join(workspace, path)))
  return [
    { title: `what ${name} would obey`, command: () => writes.join("; "), escaped: isThere },
    { title: `what ${name} would obey, made anew`, command: () => [...again, ...writes].join("; "), escaped: isThere }
  ]
}

export const commandFileEscapes: ReadonlyArray<Escape> = readers.flatMap(escapesOf)
