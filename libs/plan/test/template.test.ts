import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { renderTemplate, template, templateProblems } from "../src/index.ts"

const greeting = template({
  name: "greeting",
  sent: "to nobody",
  variables: { who: "Who is greeted.", why: "The reason." },
  required: ["who"],
  text: "Hello {who}: {why}{who}"
})

const filled = (text: string, who = "Ada", why = "") => renderTemplate(greeting, { who, why }, text)
const problems = (text: string) => templateProblems(greeting, text)

/** What templates, regular expressions and shells would trip over. */
const nasty = ["{who}", "{{why}}", "\\{who}", "$&", "$1", "$<name>", "`rm -rf`", "\r\n\t", "\u0000", "🧑‍🚀é", "{", "}}"]

describe("renderTemplate", () => {
  it("fills in every occurrence of a variable", () => {
    assert.strictEqual(renderTemplate(greeting, { who: "Ada", why: "why not" }), "Hello Ada: why notAda")
  })

  it("fills in the user's text instead of the template", () => {
    assert.strictEqual(filled("# {who}\n"), "# Ada\n")
  })

  it.each([
    ["braces that hold no name", '{ "a": {} } {1} {} { who }'],
    ["code", "function f() { return }\nif (x) {\n}"],
    ["a name that has no value", "{nobody}"],
    ["more braces than one", "{{who}} {{{why}}}"]
  ])("leaves %s as it is", (_title, text) => {
    assert.strictEqual(filled(text), text)
  })

  it.each([
    ["\\{who}", "{who}"],
    ["\\{{who}} {who}", "{{who}} Ada"],
    ["a\\{HOME}", "a{HOME}"],
    ["\\\\n \\{ \\", "\\\\n \\{ \\"]
  ])("takes the backslash in %j for text", (text, expected) => {
    assert.strictEqual(filled(text), expected)
  })

  it.prop("never replaces variables inside a value", [Schema.String, Schema.String], ([some, other]) => {
    const values = [some, other, ...nasty]
    for (const [n, who] of values.entries()) {
      const why = values[(n + 1) % values.length] ?? ""
      assert.strictEqual(renderTemplate(greeting, { who, why }), `Hello ${who}: ${why}${who}`)
    }
  })

  it.prop("leaves a text without braces and backslashes as it is", [Schema.String], ([text]) => {
    const plain = text.replaceAll(/[{}\\]/g, "")
    assert.strictEqual(filled(plain), plain)
  })

  it("fills in values of 100 KB many times", () => {
    const value = nasty.join("").repeat(4000).slice(0, 100_000)
    assert.strictEqual(filled("{who}\n".repeat(50), value), `${value}\n`.repeat(50))
  })

  it("takes time linear in the length of the text", () => {
    const text = "{{{{".repeat(50_000)
    assert.strictEqual(filled(text), text)
  })
})

describe("templateProblems", () => {
  it("accepts a text that uses only declared variables", () => {
    assert.deepStrictEqual(problems("Dear {who},\n{why}\n\\{what} { x } {{}}"), [])
  })

  it("reports an undeclared variable with its position and the nearest declared one", () => {
    const [problem, ...more] = problems("Dear {who},\r\n\r\n  for {whyy}")
    assert.deepStrictEqual(more, [])
    assert.deepInclude(problem, { line: 3, column: 7 })
    assert.match(problem?.message ?? "", /unknown variable '\{whyy\}'; did you mean 'why'\? .*\\\{whyy\}/)
  })

  it("reports doubled braces", () => {
    const [problem] = problems("\n{who} {{why}}")
    assert.deepInclude(problem, { line: 2, column: 7 })
    assert.include(problem?.message, "write {why}")
  })

  it("reports a required variable that is missing", () => {
    assert.include(problems("Hello {why}")[0]?.message, "{who} is missing")
  })

  it.each(["", " \n\t\n"])("reports an empty text: %j", (text) => {
    assert.include(problems(text)[0]?.message, "empty")
  })

  it("reports all problems in the order of the text", () => {
    assert.deepStrictEqual(
      problems("{a}\n{b} {c}").map(({ column, line }) => [line, column]),
      [
        [1, 1],
        [2, 1],
        [2, 5],
        [1, 1]
      ]
    )
  })

  it("says when the template has no variables at all", () => {
    const bare = template({ name: "bare", sent: "never", variables: {}, required: [], text: "Stop." })
    assert.include(templateProblems(bare, "Stop {now}.")[0]?.message, "this template has no variables")
  })
})
