import { assert, describe, it } from "@effect/vitest"
import { isCostly } from "../src/parts/costlyMarkdown.ts"

describe("words that are read as markdown", () => {
  it.each([
    ["quotes within quotes", ">".repeat(5_000)],
    ["quotes with blanks", `${"> ".repeat(200)}deep`],
    ["lists within lists", `${"- ".repeat(200)}deep`],
    ["stress within stress", `${"*".repeat(9_000)} a ${"*".repeat(9_000)}`],
    ["stress that never ends", "**a *b ".repeat(1_400)],
    ["links within links", "[".repeat(1_000)],
    ["a paragraph over many lines", "a *b* c\n".repeat(500)]
  ])("are shown as they are written where they nest too deeply: %s", (_, text) => assert.isTrue(isCostly(text)))

  it.each([
    ["a long answer", "Some **words** with `code`, _stress_ and [links](https://example.org).\n\n".repeat(300)],
    ["a list of many points", "- **a**: `b`\n\n".repeat(500)],
    ["a ruler", `one\n\n${"-".repeat(80)}\n\n${"*".repeat(80)}\n`],
    ["a quote", "> > > said before\n>\n> said now\n"],
    ["an ordinary list", "1. one\n   - two\n     - three **bold**\n"]
  ])("are read otherwise: %s", (_, text) => assert.isFalse(isCostly(text)))
})
