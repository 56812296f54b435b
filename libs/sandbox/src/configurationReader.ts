/** What configurations of git say, as git reads their texts. Each text is asked about once, however many files have it. */
import { createHash } from "node:crypto"
import { runGit } from "@reprise/process"
import { Effect } from "effect"
import { readSettings, type Setting } from "./repositoryConfiguration.ts"

/** `folder`: where git runs; nothing there is read. Undefined: git cannot read the text. */
export type ConfigurationReader = (folder: string, text: Buffer) => Effect.Effect<ReadonlyArray<Setting> | undefined>

/** Of more than a workspace may have, none is remembered. */
const mostKnown = 50_000

export const makeConfigurationReader = (): ConfigurationReader => {
  const known = new Map<string, ReadonlyArray<Setting> | undefined>()
  return Effect.fnUntraced(function* (folder, text) {
    const key = createHash("sha256").update(text).digest("base64")
    if (known.has(key)) return known.get(key)
    const settings = yield* runGit(folder, ["config", "--file", "-", "--no-includes", "--list", "-z"], {
      input: text.toString("latin1"),
      timeoutMs: 10_000
    }).pipe(
      Effect.map(({ exitCode, stdout }) => ({ settings: exitCode === 0 ? readSettings(stdout) : undefined })),
      // Another try may read it.
      Effect.orElseSucceed(() => undefined)
    )
    if (settings === undefined) return undefined
    if (known.size >= mostKnown) known.clear()
    known.set(key, settings.settings)
    return settings.settings
  })
}
