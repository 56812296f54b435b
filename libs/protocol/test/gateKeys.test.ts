import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  EscalationView,
  forkKey,
  gateAction,
  isFinalChoice,
  keyedChoices,
  matchesFilter,
  recommended,
  saidOfFinal,
  undoKey,
  whyNoChoice
} from "../src/index.ts"

const decode = Schema.decodeUnknownSync(EscalationView)

const aQuestion = (given: Record<string, unknown> = {}): EscalationView =>
  decode({
    escalationId: "r1-abc-e1",
    runId: "r1-abc",
    phase: "2",
    origin: "author",
    reason: "Which language?",
    options: [
      { name: "continue-session", label: "continue session", keys: ["c"], guidance: "optional" },
      { name: "fix", label: "fix in new session", keys: ["f"], guidance: "optional" },
      { name: "override", label: "override and move on", keys: ["o"], guidance: "optional" },
      { name: "abort", label: "abort", keys: ["q"], guidance: "optional" }
    ],
    evidence: {},
    raisedAt: "2026-01-01T10:00:00.000Z",
    state: "open",
    ...given
  })

const options = (...names: ReadonlyArray<string>) =>
  names.map((name) => ({ name, label: `do ${name}`, keys: [], guidance: "optional" }))

describe("the key of a choice", () => {
  it.each([
    [["pass", "fail"], "pf"],
    [["once", "always", "reject"], "owr"],
    [["done", "cannot"], "oc"],
    [["approve", "other", "abort"], "pob"],
    [["continue", "pause"], "cp"],
    [["PostgreSQL", "postgres", "SQLite"], "poq"],
    [["漢字", "ab"], "bc"]
  ])("of %j is %s", (names, keys) => {
    const keyed = keyedChoices(aQuestion({ options: options(...names) }))
    assert.strictEqual(keyed.map(({ key }) => key).join(""), keys)
  })

  it("is its own where it has one, and never that of something else", () => {
    const own = keyedChoices(aQuestion()).map(({ key }) => key)
    assert.deepStrictEqual(own, ["c", "f", "o", "q"])
    const many = keyedChoices(aQuestion({ options: options(...Array.from({ length: 40 }, (_, n) => `dat${n}`)) }))
    const given = many.map(({ key }) => key).filter((key) => key !== "")
    assert.strictEqual(new Set(given).size, given.length)
    for (const key of given) assert.isUndefined(gateAction(key), `${key} does something else at every question`)
    assert.notInclude(given, undoKey)
  })
})

describe("the recommended choice", () => {
  const checkpoint = (recommended: boolean) => ({
    task: "1.1",
    type: "decision",
    description: "Which?",
    options: [
      { id: "a", label: "A" },
      { id: "b", label: "B", recommended }
    ]
  })

  it.each([
    [{}, "continue-session"],
    [{ options: options("fix", "override", "abort") }, "fix"],
    [{ origin: "permission", options: options("once", "always", "reject") }, "once"],
    [{ origin: "continuation", options: options("retry", "redo", "abort") }, "retry"],
    [{ origin: "phase-gate", options: options("continue", "pause", "abort") }, "continue"],
    [{ origin: "question", options: options("yes", "other") }, undefined],
    [{ origin: "checkpoint", options: options("pass", "fail") }, undefined],
    [{ origin: "checkpoint", options: options("a", "b"), evidence: { checkpoint: checkpoint(true) } }, "b"],
    [{ origin: "checkpoint", options: options("a", "b"), evidence: { checkpoint: checkpoint(false) } }, undefined],
    [{ options: options("override", "abort") }, undefined]
  ])("of %j is %s", (given, name) => {
    assert.strictEqual(recommended(aQuestion(given))?.name, name)
  })
})

it.each([
  ["c", "the session has ended", "continue-session is not offered here: the session has ended"],
  ["c", undefined, "'c' is not a key here; ? lists them."],
  ["z", "the session has ended", "'z' is not a key here; ? lists them."]
])("says of %s, where continuing is not possible because %s: %s", (key, continueUnavailable, text) => {
  const evidence = continueUnavailable === undefined ? {} : { continueUnavailable }
  assert.strictEqual(whyNoChoice(aQuestion({ evidence }), key), text)
})

it.each([
  ["y", "yes"],
  ["Y", "yes"],
  ["n", "no"],
  ["N", "no"],
  ["Escape", "no"],
  ["Enter", undefined],
  ["q", undefined]
])("the key %s says %s of a final choice", (key, said) => {
  assert.strictEqual(saidOfFinal(key), said)
})

it("the key of a fork takes no choice", () => {
  assert.isUndefined(gateAction(forkKey))
  const keys = keyedChoices(aQuestion({ options: options("Fork", "from") })).map(({ key }) => key)
  assert.notInclude(keys, forkKey)
})

it.each([
  [{}, "abort", true],
  [{}, "override", true],
  [{}, "fix", false],
  [{ origin: "question" }, "abort", false],
  [{ origin: "permission" }, "override", false]
])("of %j, %s is final: %s", (given, choice, final) => {
  assert.strictEqual(isFinalChoice(aQuestion(given), choice), final)
})

it.each([
  ["LANGUAGE", true],
  ["r1-", true],
  ["plan.md", true],
  ["author", true],
  ["reviewer", false]
])("a filter of %s lets the question through: %s", (filter, isShown) => {
  assert.strictEqual(matchesFilter(aQuestion({ evidence: { planPath: "PLAN.md" } }), filter), isShown)
})
