import { assert, it } from "@effect/vitest"
import { evidenceKey } from "../src/views/gate/GateModel.ts"
import { pageRows } from "../src/views/gate/pages.ts"
import { Gate, questionNamed } from "./support/gate.ts"

it("a diff shows as a header what git wrote alone, whatever a file adds or removes", () => {
  const lines: ReadonlyArray<readonly [string, string]> = [
    ["diff --git a/a b/a", "title"],
    ["--- a/a", "title"],
    ["+++ b/a", "title"],
    ["@@ -1 +1 @@", "hunk"],
    ["--- a/other", "removed"],
    ["+++ b/other", "added"],
    ["diff --git a/b b/b", "title"],
    ["new file mode 100644", "title"]
  ]
  const { model } = new Gate([questionNamed("x")])
  const text = lines.map(([line]) => line).join("\n")
  const rows = pageRows({ ...model, tab: "diff", evidence: { [evidenceKey("x-e1", "diff")]: text } }, 80)
  assert.deepStrictEqual(
    rows.map(([span]) => [span?.text, span?.tone]),
    lines.map((line) => [...line])
  )
})
