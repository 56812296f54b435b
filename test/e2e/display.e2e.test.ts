// @module-tag long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Command } from "../harness/Command.ts"
import { once, oneQuestion, plan, script } from "../harness/modelScript.ts"
import { type Size, screenOf } from "../harness/screenOf.ts"
import { makeWorld } from "../harness/World.ts"
import { waitUntil } from "../harness/waitUntil.ts"

/** An empty commit would be refused. */
const work = "echo work > work.txt && git add -A && git commit -q -m 'Work' && git rev-parse HEAD"
const author = { role: "author", kind: "work" } as const
const words =
  "First I look at the tests, and then I fix the parser where it takes a comment for a heading. After that I run everything again, twice. "

/** Waits until what the human sees satisfies this. */
const untilSeen = (run: Command, size: Size, isWanted: (rows: ReadonlyArray<string>) => boolean) =>
  waitUntil(
    Effect.map(
      Effect.suspend(() => screenOf(run.stdout, size)),
      (rows) => (isWanted(rows) ? rows : undefined)
    )
  )

const shows = (pattern: RegExp) => (rows: ReadonlyArray<string>) => rows.some((row) => pattern.test(row))

/** The seconds that the bottom line shows; -1: it shows none. */
const clockOf = (rows: ReadonlyArray<string>): number => {
  const [, minutes, seconds] = /^. Author works on phase 1 · (\d+):(\d\d)/.exec(rows.at(-1) ?? "") ?? []
  return seconds === undefined ? -1 : Number(minutes) * 60 + Number(seconds)
}

describe("the display of a run", () => {
  it.live.each([40, 80, 200])("shows what an agent says, does and uses while it works, in %d columns", (columns) =>
    Effect.gen(function* () {
      const size = { columns, rows: 30 }
      const world = yield* makeWorld({
        openCode: "shared",
        plan: plan("One 🚀"),
        script: script(
          once(author, [
            {
              text: `${words}\x1b[2J\x1b]0;owned\x07`,
              bash: "echo hello && git log --oneline --no-decorate --max-count=20 --reverse",
              hold: { name: "mid-sentence", afterChars: 40 },
              chunkChars: 10
            },
            { text: "שלום 🚀.", bash: work, hold: "in-thought" },
            { text: "Done." }
          ])
        )
      })
      const run = yield* world.startIn({ input: size }, "run", "PLAN.md", "--no-input")
      yield* run.waitFor(/^Starting …/)
      yield* untilSeen(run, size, shows(/^ {4}\| .*and then I/))
      // Nothing happens, and still the clock goes on.
      const before = clockOf(yield* untilSeen(run, size, (rows) => clockOf(rows) >= 0))
      const later = yield* untilSeen(run, size, (rows) => clockOf(rows) > before + 1)
      assert.isTrue(later.every((row) => row.length < columns))
      yield* world.model.release("mid-sentence")
      yield* untilSeen(run, size, shows(/^ {4}… bash echo hello/))
      yield* world.model.release("in-thought")
      const ended = yield* run.ended
      assert.strictEqual(ended.code, 0, ended.stdout)

      const rows = yield* screenOf(ended.stdout, size)
      const all = rows.join("\n")
      assert.notMatch(all, /Author works on phase 1 · /, "the line at the bottom is gone")
      assert.notInclude(ended.stdout, "\x1b[2J", "an agent does not control the terminal")
      assert.notInclude(ended.stdout, "\x1b]0;")
      assert.match(all, /^Phase 1: One 🚀$/m)
      assert.strictEqual(rows.filter((row) => /^ {4}… bash echo hello/.test(row)).length, 1, all)
      assert.match(all, /^ {4}\| שלום 🚀\.$/m)
      assert.match(all, /^ {4}complete in .*tokens/m)
      assert.match(all, /^Run completed$/m)
      assert.notInclude(all, '"result"', "what is meant for Reprise is not shown")
      if (columns === 200) assert.match(all, /^ {4}\| First I look at .* again, twice\. \\x1b\[2J\\x1b\]0;owned\\x07$/m)
      if (columns === 40) assert.match(all, /^ {4}\| .* …$/m)
    })
  )

  it.live("rings when its human is needed, and leaves the bottom of the terminal to the question", () =>
    Effect.gen(function* () {
      const size = { columns: 80, rows: 50 }
      const world = yield* makeWorld(oneQuestion)
      // Without colours the question is asked line by line, not on a full screen.
      const run = yield* world.startIn({ input: size, environment: { NO_COLOR: "1" } }, "run", "PLAN.md", "--quiet")
      const asked = yield* untilSeen(run, size, shows(/^answer>/))
      assert.strictEqual(asked.at(-1)?.trim(), "answer>")
      assert.include(run.stdout, "\x07")
      assert.isFalse(shows(/Author works/)(asked), "--quiet shows no progress")
      run.type("f: Blue\n")
      assert.strictEqual((yield* run.ended).code, 0, run.stdout)
    })
  )
})
