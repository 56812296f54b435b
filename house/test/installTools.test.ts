import { delimiter, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { withTools } from "../src/installTools.ts"
import { repository } from "../src/sources.ts"

const packages = join(repository, "house/tools/node_modules")

describe("a tool of the checks", () => {
  it("is found before a program of the same name, and finds the packages of the others", () => {
    const { NODE_PATH, PATH, REPRISE_X } = withTools({ PATH: "/usr/bin", REPRISE_X: "kept" })
    assert.strictEqual(PATH, [join(packages, ".bin"), "/usr/bin"].join(delimiter))
    assert.strictEqual(NODE_PATH, packages)
    assert.strictEqual(REPRISE_X, "kept")
    assert.strictEqual(withTools({ NODE_PATH: "/mine" })["NODE_PATH"], [packages, "/mine"].join(delimiter))
  })
})
