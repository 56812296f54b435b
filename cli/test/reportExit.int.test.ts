import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"

const module = new URL("../src/terminal/reportExit.ts", import.meta.url).href

/** What a command writes to its standard error that ends with this failure. */
const saidBy = (failure: string, debug: boolean): string => {
  const script = `
    import { Exit } from "effect"
    import { reportExit } from ${JSON.stringify(module)}
    reportExit(${failure}, { asJson: false, debug: ${debug} })
  `
  const { stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    env: { ...process.env, NO_COLOR: "1" },
    encoding: "utf8"
  })
  return stderr
}

describe("the report of a failure that repeats untrusted text", () => {
  const words = JSON.stringify("bad \u001b]0;title\u0007 \u009b2J")
  it.each([
    ["a failure", `Exit.fail(new Error(${words}))`],
    ["a defect", `Exit.die(new Error(${words}))`],
    ["a defect that is not an error", `Exit.die(${words})`],
    ["a cause of an error", `Exit.die(new Error("outer", { cause: new Error(${words}) }))`]
  ])("shows what a terminal would obey, with --debug too: %s", (_, failure) => {
    for (const debug of [false, true]) {
      const said = saidBy(failure, debug)
      assert.match(said, /^reprise: /)
      assert.notMatch(said, /[^\P{Cc}\n]/u)
    }
    assert.include(saidBy(failure, true), "\\x1b]0;title\\x07 \\x9b2J")
  })
})
