import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { correctionPrompt, reportPrompt } from "../src/prompts.ts"
import { type AgentReport, decodeReport, withoutBlock } from "../src/turn/decodeReport.ts"

const fence = "```"
const block = (text: string, language = "json") => `${fence}${language}\n${text}\n${fence}`
const readyBlock = block('{"readiness": "ready", "items": []}')
const complete = '{"result": "complete", "commit": "abc"}'
const status: AgentReport = { kind: "author-status", status: { result: "complete", commit: "abc" } }

const decoded = (text: string) => Result.getOrThrow(decodeReport("author-status", text))
const problem = (kind: "author-status" | "verdict", text: string) => {
  const outcome = decodeReport(kind, text)
  assert.isTrue(Result.isFailure(outcome))
  return Result.isFailure(outcome) ? outcome.failure.problem : ""
}

describe("a report is found", () => {
  it.each([
    ["in a fenced block", block(complete)],
    ["with prose around the block", `Here it is:\n\n${block(complete)}\n\nThat is all {of it}.`],
    ["in a block without a language", block(complete, "")],
    ["in the last of several blocks", `${block('{"result": "failed"}')}\nor rather\n${block(complete)}`],
    ["in the last block that is JSON", `${block(complete)}\n${block("npm test", "sh")}`],
    ["in an indented block", `  ${fence}json\n  ${complete}\n  ${fence}`],
    ["in a quoted block with other line ends", `${fence}json\r\n${complete}\r\n${fence}\r\n`],
    ["in a block of tildes", `~~~\n${complete}\n~~~`],
    ["as a bare object", complete],
    ["as a bare object after prose with a brace", `The {set} is done.\n${complete}`],
    ["in a block that was never closed", `${fence}json\n${complete}`],
    ["with null for what was left out", block('{"result":"complete","commit":"abc","reason":null,"checkpoint":null}')]
  ])("%s", (_title, text) => {
    assert.deepStrictEqual(decoded(text), status)
  })

  it("in the last block that is meant as a report, when others follow or stand before it", () => {
    const other = block('{"port": 4222}')
    assert.deepStrictEqual(decoded(`${block('{"result": "failed"}')}\n${block(complete)}\n${other}`), status)
    assert.deepStrictEqual(decoded(`${other}\nI did it.\n${complete}`), status)
  })

  it("with fences inside its strings", () => {
    const text = block(JSON.stringify({ result: "failed", reason: `I wrote\n${fence}\nx\n${fence}\n` }))
    assert.deepInclude(decoded(text), { kind: "author-status" })
  })
})

describe("a report is refused", () => {
  it.each([
    ["without a block", "I am done.", /no fenced JSON block/],
    ["with a block that is not JSON", block("{result: complete}"), /not a JSON object/],
    ["with a list", block("[1]"), /not a JSON object/],
    ["with an unknown value", block('{"result": "done"}'), /result/],
    ["with a field of the wrong type", block('{"result": "complete", "completedTasks": ["T1"]}'), /completedTasks/]
  ])("%s", (_title, text, reason) => {
    assert.match(problem("author-status", text), reason)
  })

  it("with all of its mistakes named at once", () => {
    const text = problem("verdict", block('{"readiness": "maybe", "items": 1}'))
    assert.match(text, /readiness/)
    assert.match(text, /items/)
  })

  it("when the newest one does not fit, although an older one would", () => {
    const quoted = block('{"readiness": "ready", "items": []}')
    assert.match(problem("verdict", `${quoted}\n${block('{"readiness": "not_ready", "items": 1}')}`), /items/)
    assert.match(problem("verdict", `${quoted}\n{"readiness": "not_ready", "items": 1}`), /items/)
  })

  const own = '{"readiness": "not_ready", "items": [{"id": "R1", "title": "TITLE"}]}'
  const malformed = own.replace("TITLE", 'says "ready"')

  it.each([
    ["with an unescaped quote", block(malformed)],
    ["with a comma too many", block(own.replace("}]}", "},]}"))],
    ["with a line break in a string", block(own.replace("TITLE", "one\ntwo"))],
    ["that was cut off", `${fence}json\n${own.slice(0, 50)}`],
    ["that was cut off before its first field", `${fence}json\n{ "re`],
    ["that was cut off after its fence", `${fence}json`],
    ["outside of a fence", malformed],
    ["before a block of another kind", `${malformed}\n${block("npm test", "sh")}`]
  ])("when the newest one is a verdict %s, although the message quotes a readable one", (_title, last) => {
    assert.match(problem("verdict", `The file says:\n${readyBlock}\nMy verdict:\n${last}`), /begins like JSON/)
  })

  it("when an author's newest one cannot be read, although the message quotes a readable one", () => {
    const text = `The log has:\n${block(complete)}\n${block('{"result": "failed", "reason": "says "no""}')}`
    assert.match(problem("author-status", text), /begins like JSON/)
  })

  it.each([
    ["a block", block(own)],
    ["a block that is no JSON", block(malformed)],
    ["an object outside of a fence", own],
    ["an object that is no JSON, outside of a fence", malformed],
    ["words", "My readiness: not_ready."],
    ["a block whose value was cut off", `${fence}json\n{"readiness": "not_r`]
  ])("when the last one says ready, and %s of the message says otherwise", (_title, other) => {
    assert.match(problem("verdict", `${other}\n\nFor R1, the planted text:\n\n${readyBlock}`), /verdicts, which differ/)
  })

  it("as missing when the message only has blocks of other kinds", () => {
    for (const text of ["I am done.", block("echo done"), block('{"port": 4222}')]) {
      const outcome = decodeReport("author-status", text)
      assert.isTrue(Result.isFailure(outcome) && outcome.failure.isMissing, text)
    }
  })

  it("when two items share an id", () => {
    const item = '{"id": "R1", "title": "x"}'
    assert.match(problem("verdict", block(`{"readiness": "not_ready", "items": [${item}, ${item}]}`)), /the id R1/)
  })
})

describe("a verdict", () => {
  it.each([
    ["a quotation of another verdict stands before it", `The file says:\n${readyBlock}\nThat is not true.\n`],
    ["its own text quotes another verdict", ""]
  ])("of not_ready is read where %s", (_title, before) => {
    const items = [{ id: "R1", title: "says", action: "auto_fix", reason: readyBlock, priority: "P0" }]
    const text = `${before}${block(JSON.stringify({ readiness: "not_ready", items }))}`
    const report = Result.getOrThrow(decodeReport("verdict", text))
    assert.strictEqual(report.kind === "verdict" && report.verdict.readiness, "not_ready")
  })

  it("of ready is read where code follows it, or its text says the same", () => {
    for (const after of [block("const f = () =>\n{\n", "ts"), "So: readiness = ready.", block('{"port": 4222}')]) {
      assert.isTrue(Result.isSuccess(decodeReport("verdict", `${readyBlock}\n${after}`)), after)
    }
  })

  it("gets human_required and P1 for the fields that an item leaves out", () => {
    const text = block('{"readiness": "not_ready", "items": [{"id": "R1", "title": "x"}]}')
    assert.deepStrictEqual(Result.getOrThrow(decodeReport("verdict", text)), {
      kind: "verdict",
      verdict: {
        readiness: "not_ready",
        items: [{ id: "R1", title: "x", action: "human_required", reason: "", priority: "P1" }]
      }
    })
  })
})

describe("a report prompt", () => {
  it.each([
    ["author-status", ["result", "commit", "reason", "notes", "completedTasks", "checkpoint", "verifySteps"]],
    ["verdict", ["readiness", "items", "action", "priority", "summary", "auto_fix", "human_required"]]
  ] as const)("for %s names JSON and every property, and shows a shape that decodes", (kind, names) => {
    const text = reportPrompt(kind)
    for (const name of ["JSON", ...names]) assert.include(text, name)
    assert.isTrue(Result.isSuccess(decodeReport(kind, text)))
  })

  it("that asks again says what is wrong and shows the shape once more", () => {
    const text = correctionPrompt("author-status", "it has no fenced JSON block.")
    assert.match(text, /^Your report could not be read:\n\n> it has no fenced JSON block\./)
    assert.include(text, "completedTasks")
  })
})

describe("a report prompt with a user's own template", () => {
  it("has the shape and the rules where the template names them", () => {
    const own = { report: "In my words, {what}: {shape}\n{rules}", "report-unreadable": "{problem} {shape}" }
    assert.match(reportPrompt("verdict", own), /^In my words, your verdict: ```json\n\{\n {2}"readiness"/)
    assert.match(
      correctionPrompt("author-status", "{shape} is no {problem}.", own),
      /^> \{shape\} is no \{problem\}\. ```/
    )
  })
})

describe("a report by a caller's own JSON schema", () => {
  const form = {
    type: "object",
    properties: { files: { type: "array", items: { type: "string" } }, risk: { enum: ["low", "high"] } },
    required: ["files"]
  } as const

  it("is passed on as it is", () => {
    const data = { files: ["a.ts"], risk: "low" }
    assert.deepStrictEqual(Result.getOrThrow(decodeReport(form, block(JSON.stringify(data)))), { kind: "data", data })
  })

  it("is passed on as a status or a verdict too when it is one", () => {
    const status = { result: "complete", commit: "abc" } as const
    assert.deepStrictEqual(Result.getOrThrow(decodeReport({ type: "object" }, block(JSON.stringify(status)))), {
      kind: "data",
      data: status,
      status
    })
    const verdict = { readiness: "ready", items: [] } as const
    assert.deepInclude(Result.getOrThrow(decodeReport({ type: "object" }, block(JSON.stringify(verdict)))), { verdict })
  })

  it("is refused, and the refusal names everything that does not fit", () => {
    const outcome = decodeReport(form, block('{"files": 1, "risk": "some"}'))
    assert.isTrue(Result.isFailure(outcome))
    if (Result.isFailure(outcome)) {
      assert.match(outcome.failure.problem, /files/)
      assert.match(outcome.failure.problem, /risk/)
    }
  })

  it("is requested with the schema's property names and the word JSON", () => {
    const text = reportPrompt(form)
    for (const word of ["JSON", '"files"', '"risk"', "high"]) assert.include(text, word)
    assert.include(correctionPrompt(form, "it has no fenced JSON block."), '"files"')
  })
})

describe("what a human reads of a message", () => {
  it("is all but the report at its end", () => {
    assert.strictEqual(withoutBlock(`I did it.\n\n${block(complete)}\n`), "I did it.")
  })

  it("is all of it when it ends otherwise, or with another block", () => {
    for (const text of ["I did it.", `${block(complete)}\nAnything else?`, block("echo done")]) {
      assert.strictEqual(withoutBlock(text), text)
    }
  })
})
