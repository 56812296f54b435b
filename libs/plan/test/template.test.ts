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

describe("a template", () => {
  it("is filled in, each variable as often as it is there", () => {
    assert.strictEqual(renderTemplate(greeting, { who: "Ada", why: "why not" }), "Hello Ada: why notAda")
  })

  it("gives way to the user's text", () => {
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

  it.prop("never reads again what it filled in", [Schema.String, Schema.String], ([some, other]) => {
    const values = [some, other, ...nasty]
    for (const [n, who] of values.entries()) {
      const why = values[(n + 1) % values.length] ?? ""
      assert.strictEqual(renderTemplate(greeting, { who, why }), `Hello ${who}: ${why}${who}`)
    }
  })

  it.prop("without variables is any text that has no mark in it", [Schema.String], ([text]) => {
    const plain = text.replaceAll(/[{}\\]/g, "")
    assert.strictEqual(filled(plain), plain)
  })

  it("passes on values of 100 KB, also many times", () => {
    const value = nasty.join("").repeat(4000).slice(0, 100_000)
    assert.strictEqual(filled("{who}\n".repeat(50), value), `${value}\n`.repeat(50))
  })

  it("reads a user's text in a time that grows with its length alone", () => {
    const text = "{{{{".repeat(50_000)
    assert.strictEqual(filled(text), text)
  })
})

describe("a text that is to replace a template", () => {
  it("has no problems when it uses what is declared", () => {
    assert.deepStrictEqual(problems("Dear {who},\n{why}\n\\{what} { x } {{}}"), [])
  })

  it("is refused for a variable that is not declared, with its place and the nearest one", () => {
    const [problem, ...more] = problems("Dear {who},\r\n\r\n  for {whyy}")
    assert.deepStrictEqual(more, [])
    assert.deepInclude(problem, { line: 3, column: 7 })
    assert.match(problem?.message ?? "", /unknown variable '\{whyy\}'; did you mean 'why'\? .*\\\{whyy\}/)
  })

  it("is refused for doubled braces", () => {
    const [problem] = problems("\n{who} {{why}}")
    assert.deepInclude(problem, { line: 2, column: 7 })
    assert.include(problem?.message, "write {why}")
  })

  it("is refused when it leaves out what the agent has to be told", () => {
    assert.include(problems("Hello {why}")[0]?.message, "{who} is nowhere in it")
  })

  it.each(["", " \n\t\n"])("is refused when it is empty: %j", (text) => {
    assert.include(problems(text)[0]?.message, "empty")
  })

  it("is told all of its problems, in the order of the text", () => {
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

  it("of a template without variables is told so", () => {
    const bare = template({ name: "bare", sent: "never", variables: {}, required: [], text: "Stop." })
    assert.include(templateProblems(bare, "Stop {now}.")[0]?.message, "this template has none")
  })
})
