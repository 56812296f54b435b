import { assert, describe, it } from "@effect/vitest"
import { PastedText } from "../src/terminal/PastedText.ts"

/** The answer after these arrivals and a last line end that nothing follows. */
const answerTo = (...arrivals: ReadonlyArray<string>): string => {
  const pasted = new PastedText()
  const keys = arrivals.map((arrived) => pasted.read(arrived)).join("") + pasted.release()
  return pasted.expand(keys.replace(/[\r\n]$/, ""))
}
const bracketed = (text: string) => `\x1b[200~${text}\x1b[201~`

describe("what arrives at a prompt", () => {
  it("is typed key by key, with line ends and control keys as they are", () => {
    const pasted = new PastedText()
    for (const key of ["c", "\r", "\x03", "\x1b[D", "é", "q\n"]) assert.strictEqual(pasted.read(key), key)
    assert.isFalse(pasted.holdsLineEnd)
  })

  it("keeps every line of a paste that the terminal marks, and waits for Enter", () => {
    const pasted = new PastedText()
    assert.strictEqual(pasted.read(`f: ${bracketed("one\r\rthree\r")}`), "f: [pasted text 1: 3 lines]")
    assert.strictEqual(pasted.read("\r"), "\r")
    assert.strictEqual(pasted.expand("f: [pasted text 1: 3 lines]"), "f: one\n\nthree")
  })

  it("keeps every line of a paste that arrives at once without a mark, in one piece or in several", () => {
    assert.strictEqual(answerTo("f: one\ntwo\nthree\n"), "f: one\ntwo\nthree")
    assert.strictEqual(answerTo("f: one\ntwo", " and a half\nthree\n"), "f: one\ntwo and a half\nthree")
    assert.strictEqual(answerTo("f: one\ntwo\n", "three\r\nfour\n"), "f: one\ntwo\nthree\nfour")
  })

  it("finds a mark that arrives in pieces", () => {
    assert.strictEqual(answerTo("\x1b[200", "~a\nb", "\nc\x1b[20", "1~\r"), "a\nb\nc")
  })

  it("shows a short paste of one line in the line, and a long one as a mark", () => {
    assert.strictEqual(new PastedText().read(bracketed("one line\n")), "one line")
    const long = "x".repeat(100_000)
    const pasted = new PastedText()
    const keys = pasted.read(bracketed(long))
    assert.strictEqual(keys, "[pasted text 1: 100000 characters]")
    assert.strictEqual(pasted.expand(keys), long)
  })

  it("tells several pastes apart, and leaves out one whose mark was deleted", () => {
    const pasted = new PastedText()
    pasted.read(bracketed("a\nb"))
    pasted.read(bracketed("c\nd"))
    assert.strictEqual(pasted.expand("f: [pasted text 2: 2 lines], $& $1"), "f: c\nd, $& $1")
  })

  it("is never cut short by a Ctrl-C in the middle of it", () => {
    assert.include(new PastedText().read("one\ntwo\x03"), "\x03")
  })
})
