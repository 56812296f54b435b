/**
 * Writes `docs/reference/` from what the code says of itself: `npm run docs`. A test compares the files with a fresh
 * rendering, so that they cannot drift.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { configSchemaText } from "../cli/src/config/jsonSchema.ts"
import { commandsPage } from "./render/commands.ts"
import { configurationPage } from "./render/configuration.ts"
import { messagesPage } from "./render/messages.ts"
import { promptsPage } from "./render/prompts.ts"
import { runMachinePage } from "./render/runMachine.ts"
import { withSessionMachine } from "./render/sessionMachine.ts"

/** The pages by file name. Pure but for the parsing of flags, which needs no services. */
export const referencePages: Effect.Effect<ReadonlyMap<string, string>, unknown> = Effect.map(
  commandsPage,
  (commands) =>
    new Map([
      ["commands.md", commands],
      ["configuration.md", configurationPage()],
      ["messages.md", messagesPage()],
      ["prompts.md", promptsPage()],
      ["reprise.schema.json", configSchemaText()],
      ["run-machine.md", runMachinePage()]
    ])
)

/** Written by hand but for its diagram. */
export const sessionsFile = fileURLToPath(new URL("sessions.md", import.meta.url))

export { withSessionMachine }

export const referenceFile = (name: string): string => fileURLToPath(new URL(`reference/${name}`, import.meta.url))

if (import.meta.main) {
  for (const [name, text] of await Effect.runPromise(referencePages)) {
    mkdirSync(dirname(referenceFile(name)), { recursive: true })
    writeFileSync(referenceFile(name), text)
  }
  writeFileSync(sessionsFile, withSessionMachine(readFileSync(sessionsFile, "utf8")))
}
