import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach } from "vitest"
import { type Project, projectAt } from "../src/project/Project.ts"
import { readPrompts } from "../src/project/promptTemplates.ts"

let project: Project

beforeEach(() => {
  project = projectAt(realpathSync(mkdtempSync(join(tmpdir(), "reprise-prompts-"))))
})
afterEach(() => rmSync(project.root, { recursive: true, force: true }))

const write = (file: string, text: string | Uint8Array) => {
  const path = join(project.directory, "prompts", file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const refused = Effect.suspend(() => Effect.flip(readPrompts(project)))

describe("the prompts of a repository", () => {
  it.effect("are empty without the folder", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* readPrompts(project), {})
    })
  )

  it.effect("are the texts of their files with normalised line ends", () =>
    Effect.gen(function* () {
      const text = 'Fix 🛠️ `{failures}`\n\n```json\n{ "a": {} }\n```'
      write("quality-retry.md", `\uFEFF${text.replaceAll("\n", "\r\n")}\r\n\r\n`)
      write("work.md", "Do {phase}\n")
      write(".work.md.swp", "x")
      write("work.md~", "x")
      assert.deepStrictEqual(yield* readPrompts(project), { "quality-retry": text, work: "Do {phase}" })
    })
  )

  it.effect("are refused together, each problem with file, line and column", () =>
    Effect.gen(function* () {
      write("work.md", "Do {phase}\n and {taks}\n")
      write("quality-retry.md", "Mend it.")
      write("auto-fix.md", " \n")
      write("reviews.md", "Look.")
      write("notes.txt", "Look.")
      write("review.md", Buffer.from([0x41, 0xff, 0xfe]))
      write("context.md", "x".repeat(300 * 1024))
      const { exitCode, message } = yield* refused
      assert.strictEqual(exitCode, 3)
      for (const part of [
        ".reprise/prompts/work.md:2:6 unknown variable '{taks}'; did you mean 'tasks'?",
        ".reprise/prompts/quality-retry.md:1:1 {failures} is missing",
        ".reprise/prompts/auto-fix.md:1:1 the prompt is empty",
        ".reprise/prompts/reviews.md:1:1 there is no prompt of this name; did you mean 'review.md'?",
        ".reprise/prompts/notes.txt:1:1 there is no prompt of this name",
        ".reprise/prompts/review.md:1:1 the file is not UTF-8 text",
        ".reprise/prompts/context.md:1:1 the prompt is larger than 256 KB"
      ]) {
        assert.include(message, part)
      }
    })
  )

  it.effect("are refused if one of them is a folder", () =>
    Effect.gen(function* () {
      mkdirSync(join(project.directory, "prompts", "work.md"), { recursive: true })
      assert.include((yield* refused).message, "work.md is a directory")
    })
  )
})
