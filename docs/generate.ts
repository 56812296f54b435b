/**
 * `npm run docs` writes `docs/reference/` from the code: from its schemas, settings, commands and prompts.
 * `npm run check -- reference` exits with 1 when a file differs from what would be written.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { configSchemaText } from "../cli/src/config/jsonSchema.ts"
import { commandsPage } from "./render/commands.ts"
import { configurationPage } from "./render/configuration.ts"
import { messagesPage } from "./render/messages.ts"
import { metricsPage } from "./render/metrics.ts"
import { promptsPage } from "./render/prompts.ts"
import { runMachinePage } from "./render/runMachine.ts"
import { withSessionMachine } from "./render/sessionMachine.ts"

/** The texts of the pages by file name. */
export const referencePages: Effect.Effect<ReadonlyMap<string, string>, unknown> = Effect.map(
  commandsPage,
  (commands) =>
    new Map([
      ["commands.md", commands],
      ["configuration.md", configurationPage()],
      ["messages.md", messagesPage()],
      ["metrics.md", metricsPage()],
      ["prompts.md", promptsPage()],
      ["reprise.schema.json", configSchemaText()],
      ["run-machine.md", runMachinePage()]
    ])
)

/** Written by hand, except for its diagram. */
export const sessionsFile = fileURLToPath(new URL("sessions.md", import.meta.url))

export { withSessionMachine }

export const referenceFile = (name: string): string => fileURLToPath(new URL(`reference/${name}`, import.meta.url))

/** Every file that is written, by its path, with the text that it should have. */
const freshTexts = async (): Promise<ReadonlyMap<string, string>> => {
  const pages = await Effect.runPromise(referencePages)
  return new Map([
    ...[...pages].map(([name, text]) => [referenceFile(name), text] as const),
    [sessionsFile, withSessionMachine(readFileSync(sessionsFile, "utf8"))]
  ])
}

const isCurrent = (file: string, text: string) => existsSync(file) && readFileSync(file, "utf8") === text

const checkReference = async () => {
  const stale = [...(await freshTexts())].filter(([file, text]) => !isCurrent(file, text)).map(([file]) => file)
  for (const file of stale) process.stdout.write(`${file} is out of date: run 'npm run docs'\n`)
  process.exitCode = stale.length === 0 ? 0 : 1
}

const writeReference = async () => {
  for (const [file, text] of await freshTexts()) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

if (import.meta.main) await (process.argv.includes("--check") ? checkReference() : writeReference())
