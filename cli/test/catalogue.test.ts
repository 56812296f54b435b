import { assert, describe, it } from "@effect/vitest"
import { templateProblems } from "@reprise/plan"
import { SessionPrompts } from "@reprise/protocol"
import { templates as ofReports } from "@reprise/session-manager/prompts"
import { catalogue } from "../src/project/promptTemplates.ts"

describe("the built-in prompts", () => {
  it("have unique names that are valid file names", () => {
    assert.strictEqual(new Set(catalogue.map(({ name }) => name)).size, catalogue.length)
    for (const { name } of catalogue) assert.match(name, /^[a-z]+(-[a-z]+)*$/)
  })

  it.each(catalogue.map((template) => [template.name, template] as const))("%s uses what it declares", (_name, one) => {
    assert.deepStrictEqual(templateProblems(one, one.text), [])
    for (const required of one.required) assert.property(one.variables, required)
  })

  it("mention the report's format only in the prompts that ask for the report", () => {
    const own = new Set<string>(ofReports.map(({ name }) => name))
    for (const { name, text } of catalogue) {
      if (!own.has(name)) assert.notMatch(text, /JSON|readiness|completedTasks/, name)
    }
  })

  it("of the session-manager are the ones that a turn passes to it", () => {
    assert.deepStrictEqual(ofReports.map(({ name }) => name).sort(), Object.keys(SessionPrompts.fields).sort())
  })
})
