/** What the files say that a configuration of git includes: commands can change them while the configuration stays the same. */
import { dirname } from "node:path"
import { hasCode, readForeignFile } from "@reprise/process"
import { Effect } from "effect"
import { realOf, waysTo } from "../disk/pathsOnDisk.ts"
import type { ConfigurationReader } from "../nested/configurationReader.ts"
import { costOf, costOfGit, type Spend } from "../nested/lookLimits.ts"
import type { Setting } from "../nested/repositoryConfiguration.ts"

/** As deep as git itself follows includes. */
const deepest = 10
const largestBytes = 1024 * 1024

/** Whatever the condition: a command decides when it holds. The value may have `~` for the user's own folder. */
const includesIn = (settings: ReadonlyArray<Setting>, home: string): ReadonlyArray<string> =>
  settings.flatMap(([key, value]) =>
    /^include(if\..*)?\.path$/s.test(key) && !value.includes("\0")
      ? [value.replace(/^:\(optional\)/, "").replace(/^~(?=\/)/, home)]
      : []
  )

interface Reading {
  /** For `settingsIn`. */
  readonly stateDirectory: string
  readonly settingsIn: ConfigurationReader
  readonly spend: Spend
  readonly dependsOn: (path: string) => void
}

const asError = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))

const take = (spend: Spend, cost: number) => Effect.try({ try: () => spend(cost), catch: asError })

/** Of one file, wherever links lead. What is no file says nothing to git either; one that is too large would. */
const readAt = Effect.fnUntraced(function* (path: string, { settingsIn, spend, stateDirectory }: Reading) {
  yield* take(spend, 1)
  const text = yield* Effect.tryPromise({
    try: () =>
      readForeignFile(path, { largestBytes, follow: false }).catch((error) =>
        hasCode(error, "EFBIG", "ETIMEDOUT") ? Promise.reject(error) : undefined
      ),
    catch: asError
  })
  if (text === undefined) return []
  yield* take(spend, costOfGit + costOf(text.length))
  return (yield* settingsIn(stateDirectory, text)) ?? []
})

/** Fails with what `spend` throws, and where a file is too large. The settings of all files that are included by `settings`, those of the file at `path`, and by each other. */
export const includedSettings = Effect.fnUntraced(function* (
  path: string,
  settings: ReadonlyArray<Setting>,
  reading: Reading
) {
  const home = process.env["HOME"] ?? "/"
  const all: Array<Setting> = []
  const seen = new Set<string>()
  let next = [{ folder: dirname(path), values: includesIn(settings, home) }]
  for (let depth = 0; depth < deepest && next.length > 0; depth++) {
    const found: Array<(typeof next)[number]> = []
    for (const { folder, values } of next) {
      for (const value of values) {
        for (const way of waysTo(folder, value)) {
          reading.dependsOn(way)
          const file = realOf(way)
          if (file === undefined || seen.has(file)) continue
          seen.add(file)
          reading.dependsOn(file)
          const said = yield* readAt(file, reading)
          all.push(...said)
          // git goes on from the path by which a file is named, not from where a link leads.
          found.push({ folder: dirname(way), values: includesIn(said, home) })
        }
      }
    }
    next = found
  }
  return all
})
