import { assert, describe, it } from "@effect/vitest"
import { normalised } from "./normalised.ts"
import { commandsIn, withOutputs } from "./outputs.ts"

const page = `Before.
<!-- Output of 'status', written by 'npm run record -- outputs' -->
old
<!-- End of the output -->
After.`

const tableAt = (since: string) => {
  const width = Math.max(since.length, 5)
  return [
    `┌─────┬${"─".repeat(width + 2)}┬───┐`,
    `│ run │ ${"since".padEnd(width)} │ x │`,
    `├─────┼${"─".repeat(width + 2)}┼───┤`,
    `│ r1  │ ${since.padEnd(width)} │ y │`,
    `└─────┴${"─".repeat(width + 2)}┴───┘`
  ].join("\n")
}

describe("outputs in a document", () => {
  it("stand in blocks that name their commands", () => {
    assert.deepStrictEqual(commandsIn(page), ["status"])
    const written = withOutputs(page, new Map([["status", "all is well"]]))
    assert.match(
      written,
      /^Before\.\n<!-- .* -->\n\n```console\n\$ reprise status\nall is well\n```\n\n<!-- .* -->\nAfter\.$/
    )
    assert.strictEqual(withOutputs(written, new Map([["status", "all is well"]])), written)
    assert.notStrictEqual(withOutputs(written, new Map([["status", "something else"]])), written)
  })

  it.each([
    [
      "run rabc123-00112233, at 2030-02-03 04:05 UTC (7 min ago)",
      "run rtou1va-c63dcaef, at 2026-11-21 09:12 UTC (just now)"
    ],
    ["Answered: fix by somebody", "Answered: fix by you"],
    ["Used so far: 5 tokens (and 6 from the cache)", "Used so far: 28174 tokens (and 54572 from the cache)"],
    ["Wrote /tmp/demo/reprise.toml", "Wrote /home/you/my-repository/reprise.toml"],
    ["said by root for the author: so", "said by you for the author: so"],
    ["said by the author for the reviewer: so", "said by the author for the reviewer: so"],
    ["1234567890 and abcdefabcd and 1234567890", "c86a8c9e8d and 707e3514de and c86a8c9e8d"],
    [
      "    complete in 12.3 s, 1.0M tokens\n    failed in 2 min, 5 tokens",
      "    complete in 7.8 s, 9.1k tokens\n    failed in 0.8 s, 8.8k tokens"
    ],
    ["2030-02-03T04:05:06.789Z   Approving phase 1", "2026-11-21T09:12:00.120Z   Approving phase 1"],
    ["v24 (/opt/it/node_modules/node/bin/node)", "v24 (/home/you/reprise/node_modules/node/bin/node)"],
    [tableAt("1 min ago"), tableAt("just now")],
    [tableAt("12 min ago"), tableAt("just now")],
    [tableAt("just now"), tableAt("just now")]
  ])("are the same whoever makes them: %s", (output, shown) => {
    assert.strictEqual(normalised(output, "/tmp/demo"), shown)
  })

  it("have no lines of what agents do right now, and those of a review in one order", () => {
    const told = "    … bash npm test\n  Reviewer starts session x\n  Review 1 of y\n"
    assert.strictEqual(normalised(told, "/tmp/demo", "run PLAN.md"), "  Review 1 of y\n  Reviewer starts session x")
    assert.strictEqual(normalised(told, "/tmp/demo", "gate show"), told.trimEnd())
  })

  it("have what doctor finds of the machine replaced, and end where the order is another each time", () => {
    const table = "┌──┐\n│ git │ broken │ none │\n│ │ │ → get it │\n├──┤\n│ model │ ok │ asked │\n└──┘\n"
    assert.match(
      normalised(table, "/tmp/demo", "doctor"),
      /│ git +│ ok │ git version [\d.]+ │\n├.*\n│ model │ ok │ asked +│/
    )
    assert.strictEqual(normalised("t   Reviewing phase 1\nt   more\n", "/tmp/demo", "logs"), "t   Reviewing phase 1\n…")
  })
})
