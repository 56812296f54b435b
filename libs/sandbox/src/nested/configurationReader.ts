/** What configurations of git say, as git reads their texts. Each text is asked about once, however many files have it. */
import { createHash } from "node:crypto"
import { runGit } from "@reprise/process"
import { Effect } from "effect"
import { readSettings, type Setting } from "./repositoryConfiguration.ts"

/** `folder`: where git runs; nothing there is read. Undefined: git cannot read the text. */
export type ConfigurationReader = (folder: string, text: Buffer) => Effect.Effect<ReadonlyArray<Setting> | undefined>

/** Of one text. A command can make a short one of which git lists more than memory holds. */
const largestBytes = 256 * 1024
const mostSettings = 5_000
/** Of all texts that are remembered together. */
const mostKnownBytes = 4 * 1024 * 1024

export const makeConfigurationReader = (): ConfigurationReader => {
  const known = new Map<string, ReadonlyArray<Setting> | undefined>()
  let knownBytes = 0
  return Effect.fnUntraced(function* (folder, text) {
    if (text.length > largestBytes) return undefined
    const key = createHash("sha256").update(text).digest("base64")
    if (known.has(key)) return known.get(key)
    const listed = yield* runGit(folder, ["config", "--file", "-", "--no-includes", "--list", "-z"], {
      // In any other encoding a path that it names would be another one.
      input: text,
      timeoutMs: 10_000,
      largestOutputBytes: 4 * largestBytes
    }).pipe(
      // Another try may read it.
      Effect.orElseSucceed(() => undefined)
    )
    if (listed === undefined) return undefined
    const all = listed.exitCode === 0 ? readSettings(listed.stdout) : undefined
    const settings = all !== undefined && all.length > mostSettings ? undefined : all
    if (knownBytes + text.length > mostKnownBytes) {
      known.clear()
      knownBytes = 0
    }
    known.set(key, settings)
    knownBytes += text.length + key.length
    return settings
  })
}
