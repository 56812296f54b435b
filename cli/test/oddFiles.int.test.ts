/** What a repository can have in the place of each file that a command reads. None is waited for, or read without end. */
import { mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { oddFiles } from "@reprise/process/testing"
import { Effect } from "effect"
import { ensureSchemaFile } from "../src/config/jsonSchema.ts"
import { loadConfig } from "../src/config/loadConfig.ts"
import { changesSince } from "../src/flows/gate/evidenceText.ts"
import { detectQualityGates } from "../src/flows/repository/init.ts"
import { readClone } from "../src/project/cloneId.ts"
import type { Project } from "../src/project/Project.ts"
import { readPlanFile } from "../src/project/planFile.ts"
import { readPromptFiles } from "../src/project/promptTemplates.ts"
import { requireOwnState } from "../src/project/stateOrigin.ts"
import { rememberedIds } from "../src/system/lookUp/ids.ts"
import { agentFiles } from "../src/trust/agentFiles.ts"
import { readTrust } from "../src/trust/trustFile.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const repository = scratchRepository()

interface Row {
  /** The commands that read the file. */
  readonly by: string
  /** Below the repository, or absolute. */
  readonly path: string
  readonly ask: (project: Project) => Effect.Effect<unknown, unknown>
  /** What is said where it cannot be read; absent: it counts as nothing, or is replaced. */
  readonly says?: RegExp
}

const rows: ReadonlyArray<Row> = [
  {
    by: "init",
    path: "package.json",
    ask: ({ root }) => detectQualityGates(root),
    says: /^package\.json (?:is|has|may not)/
  },
  {
    by: "validate, run, run --dry-run, trust PLAN and config explain PLAN",
    path: "PLAN.md",
    ask: (project) => readPlanFile(project, join(project.root, "PLAN.md")),
    says: /PLAN\.md/
  },
  ...["reprise.toml", "reprise.local.toml"].map((path) => ({
    by: "every command",
    path,
    ask: ({ root }: Project) => loadConfig(root),
    says: /^reprise\.(?:local\.)?toml (?:is|has|may not)/
  })),
  {
    by: "prompts and run",
    path: ".reprise/prompts/work.md",
    ask: readPromptFiles,
    says: /^\.reprise\/prompts\/work\.md (?:is|has|may not)/
  },
  { by: "prompts and run", path: ".reprise/prompts", ask: readPromptFiles, says: /^\.reprise\/prompts cannot be read/ },
  {
    by: "trust, run and doctor",
    path: "opencode.json",
    ask: (project) =>
      Effect.map(agentFiles(project, "opencode"), (files) => files.map(({ doubt }) => doubt ?? "trusted").join()),
    says: /^it (?:is|has|may not)/
  },
  { by: "every command", path: ".reprise", ask: requireOwnState, says: /\.reprise is not used: / },
  { by: "every command", path: ".reprise/origin.json", ask: requireOwnState, says: /\.reprise is not used: / },
  { by: "every command", path: ".git/reprise.json", ask: readClone },
  { by: "trust and run", path: "../config/reprise/trust", ask: (project) => readTrust(project) },
  { by: "init and run", path: ".reprise/schema.json", ask: ensureSchemaFile },
  { by: "completion", path: ".reprise/ids.json", ask: rememberedIds },
  { by: "gate show", path: "new.txt", ask: ({ root }) => changesSince(root) }
]

/** Of an answer, and of a failure, what a human reads. */
const outcomeOf = (asked: Effect.Effect<unknown, unknown>): Effect.Effect<string> =>
  asked.pipe(
    Effect.map((answer) => (typeof answer === "string" ? answer : (JSON.stringify(answer) ?? "nothing"))),
    Effect.catch((error) => Effect.succeed(error instanceof Error ? error.message : String(error)))
  )

describe("a file that a command reads", () => {
  it.live.each(rows)("is not waited for, whatever stands at $path: $by", ({ ask, path, says }) =>
    Effect.gen(function* () {
      const { project } = repository
      repository.track("opencode.json", "{}")
      const absolute = join(project.root, path)
      for (const odd of oddFiles) {
        rmSync(absolute, { recursive: true, force: true })
        mkdirSync(dirname(absolute), { recursive: true })
        const remove = yield* Effect.promise(() => odd.put(absolute))
        const outcome = yield* outcomeOf(ask(project))
        // A folder is right in the place of a folder, and what leads nowhere is nothing.
        const isRight = odd.name === "a directory" && /prompts$|\.reprise$/.test(path)
        if (says !== undefined && odd.code !== undefined && !isRight) assert.match(outcome, says, odd.name)
        remove()
      }
    })
  )
})
