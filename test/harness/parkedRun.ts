/** A run without a terminal: it parks at each question, and its files can be read. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { World } from "./World.ts"

/** A file of the repository. */
export const fileOf = (world: World, path: string) => readFileSync(join(world.root, path), "utf8")

/** Runs the plan until it waits for a human, and returns the question. */
export const parks = Effect.fnUntraced(function* (world: World, ...flags: ReadonlyArray<string>) {
  const run = yield* world.reprise("run", "PLAN.md", ...flags)
  assert.strictEqual(run.code, 4, run.stderr)
  const [question] = yield* world.questions
  return question ?? assert.fail("no question is open")
})

/** Answers a question from another process. */
export const answers = Effect.fnUntraced(function* (world: World, id: string, choice: string, guidance?: string) {
  const words = guidance === undefined ? [] : ["--guidance", guidance]
  const answer = yield* world.reprise("gate", "answer", id, choice, ...words)
  assert.strictEqual(answer.code, 0, answer.stderr)
})
