import { assert, describe, it } from "@effect/vitest"
import { detectQualityGates } from "../src/flows/repository/init.ts"
import { scratchRepository } from "./support/scratchRepository.ts"

const repository = scratchRepository()
const scripts = { lint: "x", test: "x" }

describe("the quality gates that init finds", () => {
  it.each([
    ["npm without a lock file", { scripts }, [], ["npm run lint", "npm test"]],
    ["pnpm by its lock file", { scripts }, ["pnpm-lock.yaml"], ["pnpm run lint", "pnpm test"]],
    ["yarn by its lock file", { scripts }, ["yarn.lock"], ["yarn run lint", "yarn test"]],
    ["the scripts, not the own test runner, of bun", { scripts }, ["bun.lock"], ["bun run lint", "bun run test"]],
    [
      "what the manifest names before a lock file",
      { scripts, packageManager: "pnpm@10.1.0" },
      ["package-lock.json"],
      ["pnpm run lint", "pnpm test"]
    ],
    ["verify alone where it is", { scripts: { ...scripts, verify: "x" } }, [], ["npm run verify"]],
    ["another kind of project without scripts", { name: "x" }, ["Cargo.toml"], ["cargo test"]],
    ["nothing in a manifest that is none", "x", [], []]
  ])("are those of %s", (_, manifest, files, gates) => {
    repository.write("package.json", JSON.stringify(manifest))
    for (const file of files) repository.write(file, "")
    assert.deepStrictEqual(detectQualityGates(repository.project.root), gates)
  })
})
