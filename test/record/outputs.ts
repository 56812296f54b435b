/**
 * What commands print, in the documents: a block stands between two comments, the first of which names its command. The
 * commands are called in the repository that `reprise demo` leaves behind; `init` in one that has nothing but a check, and
 * `run` in one whose run asks a question (`shownRun.ts`).
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { normalised, shownRun } from "./normalised.ts"

const block =
  /(<!-- Output of '([^']+)', written by 'npm run record -- outputs' -->\n)[\s\S]*?(\n<!-- End of the output -->)/g

/** The pages that show outputs. */
export const pagesWithOutputs: ReadonlyArray<string> = ["README.md", "docs/guide.md", "docs/operations.md"].map(
  (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
)

/** In place of the demo's question in a command. */
const questionPlaceholder = "QUESTION"

/** The commands that a page shows, without `reprise`. */
export const commandsIn = (page: string): ReadonlyArray<string> =>
  [...page.matchAll(block)].map(([, , words = ""]) => words)

/** The page with these outputs, by command; it has no others. */
export const withOutputs = (page: string, outputs: ReadonlyMap<string, string>): string =>
  page.replaceAll(block, (_whole, begin: string, command: string, end: string) => {
    const typed = command.replace(questionPlaceholder, `${shownRun}-e1`)
    return `${begin}\n\`\`\`console\n$ reprise ${typed}\n${outputs.get(command) ?? ""}\n\`\`\`\n${end}`
  })

/** A command that was called before the others, where it was called, and all that it has printed. */
export interface Called {
  readonly directory: string
  readonly output: string
}

interface Recording {
  /** By the words of the command. */
  readonly called: ReadonlyMap<string, Called>
  /** What the demo has left behind, and its run. */
  readonly demo: string
  readonly runId: string
  /** Where a folder may be made. */
  readonly folder: string
  /** Gives all that the command prints. */
  readonly call: (directory: string, words: ReadonlyArray<string>) => Promise<string>
}

const makeRepository = (folder: string): string => {
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts: { test: "node --test" } }))
  execFileSync("git", ["init", "--quiet", folder])
  return folder
}

/** The outputs of the commands that a page shows. */
export const recordedOutputs = async (page: string, { call, called, demo, folder, runId }: Recording) => {
  const outputs = new Map<string, string>()
  for (const command of commandsIn(page)) {
    const before = called.get(command)
    if (before !== undefined) {
      outputs.set(command, normalised(before.output, before.directory, command))
      continue
    }
    const isNew = command.startsWith("init")
    const directory = isNew ? makeRepository(join(folder, `new-${outputs.size}`)) : demo
    const words = command.replace(questionPlaceholder, `${runId}-e1`).split(" ")
    outputs.set(command, normalised(await call(directory, words), directory, command))
  }
  return outputs
}
