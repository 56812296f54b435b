/** Configurations that a command wrote to have Reprise remember more than memory holds. */
import { tmpdir } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeConfigurationReader } from "../src/nested/configurationReader.ts"

describe("a configuration inside of a workspace", () => {
  it.live.each([
    ["has more settings than anybody", `[a]\n${"b\n".repeat(6_000)}`],
    ["is larger than anybody's", `[a]\n${"#".repeat(300 * 1024)}\n`],
    ["lists more than it holds", `[${"a".repeat(10_000)}]\n${"b\n".repeat(1_000)}`]
  ] as const)("counts as one that cannot be read where it %s", ([, text]) =>
    Effect.gen(function* () {
      const settingsIn = makeConfigurationReader()
      assert.isUndefined(yield* settingsIn(tmpdir(), Buffer.from(text)))
      const small = yield* settingsIn(tmpdir(), Buffer.from("[a]\n\tb = c\n"))
      assert.deepStrictEqual(
        small?.map(([key, value]) => [key, value]),
        [["a.b", "c"]]
      )
    })
  )

  it.live("has the values that git reads, in any letters and behind a byte order mark", () =>
    Effect.gen(function* () {
      const text = Buffer.from("\ufeff[include]\n\tpath = /home/zo\u00eb/\u0416.inc\n")
      const settings = yield* makeConfigurationReader()(tmpdir(), text)
      assert.deepStrictEqual(settings, [["include.path", "/home/zo\u00eb/\u0416.inc"]])
    })
  )
})
