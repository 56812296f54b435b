import { assert, describe, it } from "@effect/vitest"
import { requireFewToKeep, requireFewTrees, TooMuchToKeep, usualLimits } from "../src/keptLimits.ts"
import type { Policy } from "../src/policy.ts"

const many = <A>(make: (n: number) => A) => [1, 2, 3, 4].map(make)

const policy = (more: Partial<Policy>): Policy => ({
  workspace: "/w",
  git: "/w/.git",
  stateDirectory: "/w/.reprise",
  mounts: [],
  listed: [],
  kept: ["/w/.mcp.json", "/elsewhere/x"],
  present: [],
  guarded: [],
  links: [],
  refused: "/w/.reprise/sandbox/refused",
  temporary: "/tmp",
  network: [],
  environment: {},
  ...more
})

const refusalOf = (more: Partial<Policy>, limits: Partial<typeof usualLimits>) => {
  try {
    requireFewToKeep(policy(more), { ...usualLimits, ...limits })
    return undefined
  } catch (error) {
    return error
  }
}

describe("what a command may not change", () => {
  it.each([
    ["names", { kept: many((n) => `/w/trees/${n}/.mcp.json`) }, { mostPaths: 3 }, "/w/trees"],
    [
      "mounts",
      { mounts: many((n) => ({ path: `/w/.git/worktrees/${n}/gitdir`, as: "readable" as const })) },
      { mostArguments: 60 },
      "/w/.git/worktrees"
    ],
    ["bytes", { guarded: many((n) => `/elsewhere/${"n".repeat(1000)}${n}`) }, { mostBytes: 4000 }, "/elsewhere"]
  ])("is refused with the folder that has most of it where it has too many %s", (_, more, limits, folder) => {
    const refusal = refusalOf(more, limits)
    assert.instanceOf(refusal, TooMuchToKeep)
    assert.include(refusal.message, `most of them in ${folder}. So no command runs here.`)
    assert.isUndefined(refusalOf(more, {}))
  })

  it.each([
    ["git directories", { directories: many((n) => `/w/.git/worktrees/${n}`) }, "/w/.git/worktrees"],
    ["working trees", { trees: many((n) => `/w/trees/${n}`) }, "/w/trees"]
  ])("is refused before it is looked for where a repository has too many %s", (_, more, folder) => {
    const few = { workspace: "/w", common: "/w/.git", directories: [], trees: [] }
    const refused = () => requireFewTrees({ ...few, ...more }, { ...usualLimits, mostDirectories: 3, mostPaths: 100 })
    assert.throws(refused, `most of them in ${folder}. So no command runs here.`)
    assert.doesNotThrow(() => requireFewTrees({ ...few, ...more }))
  })
})
