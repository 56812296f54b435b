/** Which files a mutation run changes, and how its result is scored. */

/** The parts of Stryker's report that are read. */
interface Report {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: string
        readonly mutants: ReadonlyArray<{
          readonly status: string
          readonly mutatorName: string
          readonly replacement?: string
          readonly location: { readonly start: { readonly line: number; readonly column: number } }
        }>
      }
    >
  >
}

export interface Score {
  readonly folder: string
  readonly noticed: number
  readonly mutants: number
  readonly met: boolean
}

const targetShare = 95

/** The pure core: what services decide, the actor's runtime, the plan library. */
const isPure = (path: string): boolean =>
  /^(services\/[^/]+\/src\/(?!work\/|(service|main|index)\.ts$)|libs\/actor\/src\/runtime\/|libs\/plan\/src\/).*\.ts$/.test(
    path
  ) && !path.endsWith("/index.ts")

/** The files of the pure core in the folder, or the file, `only`; all of them if it is empty. */
export const targets = (paths: ReadonlyArray<string>, only: string): ReadonlyArray<string> => {
  const place = only.replace(/\/$/, "")
  return paths.filter((path) => isPure(path) && (place === "" || path === place || path.startsWith(`${place}/`)))
}

/** The files by the package that they belong to. */
export const packagesOf = (
  files: ReadonlyArray<string>
): ReadonlyArray<{ readonly name: string; readonly files: ReadonlyArray<string> }> => {
  const names = [...new Set(files.map((file) => file.split("/").slice(0, 2).join("/")))]
  return names.map((name) => ({ name, files: files.filter((file) => file.startsWith(`${name}/`)) }))
}

/** `count` of the files, always the same for the same seed; all of them for 0. */
export const sampleOf = (files: ReadonlyArray<string>, count: number, seed: number): ReadonlyArray<string> => {
  if (count <= 0 || count >= files.length) return files
  const left = [...files]
  let state = seed
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return left.splice(state % left.length, 1).join("")
  }).sort()
}

/** Mutants that do not compile or were left out on purpose say nothing about the tests. */
const counted = new Set(["Killed", "Timeout", "Survived", "NoCoverage"])
const noticed = new Set(["Killed", "Timeout"])

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/"))

/** How many mutants were noticed in each folder, and in all of them together, which comes last. */
export const scoresOf = ({ files }: Report): ReadonlyArray<Score> => {
  const score = (folder: string, belongs: (file: string) => boolean): Score => {
    const mutants = Object.entries(files)
      .filter(([file]) => belongs(file))
      .flatMap(([, { mutants }]) => mutants.filter(({ status }) => counted.has(status)))
    const found = mutants.filter(({ status }) => noticed.has(status)).length
    return { folder, noticed: found, mutants: mutants.length, met: 100 * found >= targetShare * mutants.length }
  }
  const folders = [...new Set(Object.keys(files).map(folderOf))].sort()
  return [...folders.map((folder) => score(folder, (file) => folderOf(file) === folder)), score("all", () => true)]
}

/** The mutants that no test noticed, as `file:line:column  mutator → replacement`. */
export const survivorsOf = ({ files }: Report): ReadonlyArray<string> =>
  Object.entries(files).flatMap(([file, { mutants }]) =>
    mutants
      .filter(({ status }) => counted.has(status) && !noticed.has(status))
      .map(({ mutatorName, replacement = "", location: { start } }) => {
        const change = replacement.replace(/\s+/g, " ").slice(0, 80)
        return `${file}:${start.line}:${start.column}  ${mutatorName} → ${change}`
      })
  )

export const renderScores = (scores: ReadonlyArray<Score>): string => {
  const width = Math.max(...scores.map(({ folder }) => folder.length))
  const lines = scores.map(({ folder, noticed: found, mutants, met }) => {
    const share = mutants === 0 ? 100 : (100 * found) / mutants
    return `${folder.padEnd(width)}  ${share.toFixed(1).padStart(5)} %  ${found} of ${mutants}  ${met ? "ok" : "MISSED"}`
  })
  return `\nNoticed, target ${targetShare} %:\n${lines.join("\n")}\n`
}
