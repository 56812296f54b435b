/**
 * The folder in which OpenCode's server runs, and from which it loads Reprise's plugin. OpenCode is a Bun executable: whatever it
 * imports, Bun looks up by the next `tsconfig.json` above the server's folder and above each imported file, and `paths` there
 * puts any other file in its place. So the folder lies in no workspace, and has a `tsconfig.json` of its own, at which the
 * search ends, for where a workspace is a home folder (docs/agents.md#what-opencode-imports).
 */
import { createHash } from "node:crypto"
import { join } from "node:path"
import { replaceFile, userConfigFolder } from "@reprise/process"
import { Effect } from "effect"
import { onDisk } from "./OpenCodeEndpoint.ts"
import type { OpenCodeStateFault } from "./OpenCodeUnavailable.ts"
import { pluginText } from "./sessionFolderPlugin.ts"

type Environment = Readonly<Record<string, string | undefined>>

const pluginName = "sessionFolder.js"

const files: Readonly<Record<string, string>> = {
  "tsconfig.json": "{}\n",
  // npm, by which OpenCode installs packages, obeys the `.npmrc` beside the next one.
  "package.json": "{}\n",
  [pluginName]: pluginText
}

/** Builds of Reprise with other files have other folders: a running server loads its plugin for each directory again. */
const name = createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 16)

export const pluginIn = (folder: string): string => join(folder, pluginName)

/** Whatever was there before. */
const fill = (folder: string) =>
  onDisk("preparing the server's folder", async () => {
    for (const [file, text] of Object.entries(files)) await replaceFile(join(folder, file), text)
    return folder
  })

/**
 * Makes the folder, and gives its absolute path. It is in the user's folder of Reprise, which commands neither see nor write;
 * where that cannot be written, as in some containers, in the state directory.
 */
export const makeServerFolder = (
  environment: Environment,
  stateDirectory: string
): Effect.Effect<string, OpenCodeStateFault> =>
  Effect.try(() => join(userConfigFolder(environment), "opencode", name)).pipe(
    Effect.flatMap(fill),
    Effect.catch(() => fill(join(stateDirectory, "opencode", name)))
  )
