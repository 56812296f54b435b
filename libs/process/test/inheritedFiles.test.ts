import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { unknownFiles } from "../src/inheritedFiles.ts"

const inherited = (...numbers: ReadonlyArray<number>) => numbers.map((number) => ({ number, flags: "0100000" }))

describe("files that a process was started with", () => {
  it.each([
    ["others than input and output", inherited(0, 1, 2, 3, 200), [], [3, 200]],
    ["but what closes with each program", [{ number: 30, flags: "02100000" }], [], []],
    ["but what an argument names", inherited(63, 64), ["--plan", "/dev/fd/63"], [64]],
    ["but what a variable names", inherited(63, 64), ["a:/proc/self/fd/64"], [63]],
    ["also one whose number begins alike", inherited(6, 63), ["/dev/fd/63"], [6]]
  ])("are not known: %s", (_, open, words, unknown) => {
    assert.deepStrictEqual(unknownFiles(open, words), unknown)
  })

  it.skipIf(process.platform !== "linux")("are closed for the programs that it starts", () => {
    const module = fileURLToPath(new URL("../src/inheritedFiles.ts", import.meta.url))
    const own = `import { closeUnknownFiles } from ${JSON.stringify(module)}
      import { execFileSync } from "node:child_process"
      if (process.argv[1] === "close") closeUnknownFiles()
      process.stdout.write(execFileSync("ls", ["/proc/self/fd"]))`
    const seen = (word: string) =>
      execFileSync("bash", [
        "-c",
        `exec 77</ 78</; exec "$0" --input-type=module -e "$1" "$2" /dev/fd/78`,
        process.execPath,
        own,
        word
      ]).toString()
    assert.match(seen("keep"), /^77\n78$/m)
    assert.match(seen("close"), /^78$/m)
    assert.notMatch(seen("close"), /^77$/m)
  })
})
