import { assert, describe, it } from "@effect/vitest"
import { exempt, findHardPhrases, phrases } from "../src/phrases.ts"
import { readSources, repository } from "../src/sources.ts"

const place = "cli/src/planted.ts"
const foundIn = (text: string, file = place) =>
  findHardPhrases(new Map([[file, text]])).hard.map(({ file, line, phrase }) => `${file}:${line} ${phrase}`)

/** At least one for each phrase. */
const hard = [
  "every channel that has it is told so",
  "Words of others are marked.",
  "what Reprise knows of a tree",
  "It arrives word for word.",
  "a limit is no trigger of an action",
  "names that are no text",
  "a folder of yours",
  "A running turn of ours",
  "It waits for ever.",
  "It is started anew.",
  "Its author mends it.",
  "The run goes on by itself.",
  "after a look at the journal",
  "What nobody may be asked about",
  "for who does not wait",
  "It works. Of what remains nothing is read.",
  "time in the square of the length",
  "a name that is no UTF-8",
  "half of a surrogate pair",
  "a session that was there already",
  "what is no trouble of the broker",
  "'git merge' takes over what it did",
  "It has no setting against that.",
  "Since when the host is drained.",
  "a file otherwise than git has it",
  "with the report in its hands",
  "as soon as it rests"
]

const plain = [
  "A queue of others' messages",
  "of others that wait",
  "There is no end of this list.",
  "The queue is no longer empty.",
  "A commit that is no newer than the phase",
  "There is no text of that name.",
  "Since when is it idle?",
  "By what means does it end?",
  "look at the journal",
  "the answer to whoever asks"
]

describe("a phrase that has to be read twice", () => {
  it.each(hard)("is found in a comment: %s", (text) => assert.lengthOf(foundIn(`\n/** ${text} */`), 1))

  it("is found by at least one example for each pattern", () =>
    assert.deepStrictEqual(
      phrases.filter(({ pattern }) => !hard.some((text) => new RegExp(pattern).test(text))),
      []
    ))

  it.each(plain)("is not: %s", (text) => assert.deepStrictEqual(foundIn(`// ${text}`), []))

  it("is found across lines of a comment", () =>
    assert.deepStrictEqual(foundIn("/**\n * The words of\n * others.\n */"), [`${place}:2 of others`]))

  it("is found in strings, templates and text between tags", () => {
    assert.deepStrictEqual(foundIn('const one = "told so"'), [`${place}:1 told so`])
    assert.deepStrictEqual(foundIn(`const one = \`\${name} is\n told so\``), [`${place}:2 told so`])
    assert.deepStrictEqual(foundIn("const one = <p>told so</p>", "console/src/Planted.tsx"), [
      "console/src/Planted.tsx:1 told so"
    ])
  })

  it("is not looked for in names", () =>
    assert.deepStrictEqual(foundIn("const a = told; for (const b of others) b"), []))

  it("is found in Markdown, but not in its blocks of code", () =>
    assert.deepStrictEqual(foundIn("a\n\n```\ntold so\n```\n\nwas told so\n", "docs/page.md"), [
      "docs/page.md:7 told so"
    ]))

  it("is let pass in the files that are exempt, until none is left there", () => {
    const [entry = ""] = Object.keys(exempt)
    const found = findHardPhrases(new Map([[`${entry}${entry.endsWith("/") ? "planted.ts" : ""}`, "// told so"]]))
    assert.deepStrictEqual(found.hard, [])
    assert.notInclude(found.unused, entry)
    assert.deepStrictEqual([...findHardPhrases(new Map()).unused], Object.keys(exempt))
  })

  it("is nowhere else in the repository", () =>
    assert.deepStrictEqual(findHardPhrases(readSources(repository)), { hard: [], unused: [] }))
})
