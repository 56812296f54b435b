import { assert, describe, it } from "@effect/vitest"
import { takesPart } from "../src/command/bubblewrap.ts"
import { chooseEngine, shortcomings } from "../src/command/engine.ts"

describe("what separates commands from a machine", () => {
  it.each([
    ["linux", false, "bubblewrap"],
    ["linux", true, "bubblewrap"],
    ["darwin", true, "seatbelt"]
  ] as const)("is on %s, required %s: %s", (platform, isRequired, engine) => {
    assert.deepStrictEqual(chooseEngine(platform, isRequired), { _tag: "chosen", engine })
  })

  it.each([
    ["darwin", false, /never tried.*sandbox\.mode to "required"/],
    ["win32", true, /needs Linux/],
    ["freebsd", false, /needs Linux/]
  ] as const)("is nothing on %s, required %s, and it is said what to do", (platform, isRequired, said) => {
    const choice = chooseEngine(platform, isRequired)
    assert.match(choice._tag === "none" ? choice.reason : "", said)
  })

  it("is said not to have been tried on a Mac, with what commands do not get there", () => {
    assert.deepStrictEqual(shortcomings({ engine: "bubblewrap" }), [])
    assert.match(
      shortcomings({ engine: "seatbelt" }).join("\n"),
      /never tried(.|\n)*no name(.|\n)*leaves behind(.|\n)*not counted/
    )
  })

  it("is said not to hold Reprise itself where it was started with code of the repository", () => {
    assert.match(
      shortcomings({ engine: "bubblewrap", loadedFromTree: ["LD_LIBRARY_PATH", "NODE_OPTIONS"] }).join("\n"),
      /LD_LIBRARY_PATH, NODE_OPTIONS lead there.*Take that out/
    )
  })

  it("is said to let processes of a killed command go on where one can take over what ends them", () => {
    assert.match(shortcomings({ engine: "bubblewrap", canBeOutlived: true }).join("\n"), /may go on.*ptrace_scope to 1/)
  })

  it("is said to see what is mounted later where nothing keeps it from taking part in the machine's mounts", () => {
    assert.match(shortcomings({ engine: "bubblewrap", seesLaterMounts: true }).join("\n"), /mounted while.*'unshare'/)
  })

  it.each([
    ["21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw", true],
    ["21 1 8:1 / / rw,relatime master:7 - ext4 /dev/sda1 rw", true],
    ["21 1 8:1 / / rw,relatime - ext4 /dev/shared:1 rw", false],
    ["", false]
  ])("takes part in the machine's mounts if one of its own does: %s", (mounts, expected) => {
    assert.strictEqual(takesPart(`21 1 0:5 / /proc rw - proc proc rw\n${mounts}\n`), expected)
  })
})
