import { assert, describe, it } from "@effect/vitest"
import { requireFewToKeep, TooMuchToKeep, usualLimits } from "../src/policy/keptLimits.ts"
import type { Policy } from "../src/policy/policy.ts"

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
      { mounts: many((n) => ({ path: `/w/trees/${n}/.vscode`, as: "readable" as const })) },
      { mostArguments: 60 },
      "/w/trees"
    ],
    ["bytes", { guarded: many((n) => `/elsewhere/${"n".repeat(1000)}${n}`) }, { mostBytes: 4000 }, "/elsewhere"]
  ])("is refused with the folder that has most of it where it has too many %s", (_, more, limits, folder) => {
    const refusal = refusalOf(more, limits)
    assert.instanceOf(refusal, TooMuchToKeep)
    assert.include(refusal.message, `most of them in ${folder}. So no command runs here.`)
    assert.isUndefined(refusalOf(more, {}))
  })
})
