import { assert, describe, it } from "@effect/vitest"
import { workOfSession } from "../src/machine/workOfSession.ts"
import { requireAbsoluteDirectory } from "../src/session/guards.ts"
import { changeTurn, knowing, noSession, type Session, usedAt } from "../src/session/state.ts"
import { actor, at, given, newTurn, opened, t } from "./support/story.ts"

const knownOf = (ids: ReadonlyArray<string | undefined>): Session => ids.reduce(knowing, noSession)

describe("the prompts that a session knows", () => {
  const many = Array.from({ length: 12 }, (_, n) => `p${n}`)
  it.each<readonly [string, ReadonlyArray<string | undefined>, ReadonlyArray<string>]>([
    ["are in the order of their use", ["p1", "p2", "p1"], ["p2", "p1"]],
    ["are not more for one that nobody named", ["p1", undefined], ["p1"]],
    ["are the newest ten", many, many.slice(2)]
  ])("%s", (_, ids, known) => assert.deepStrictEqual(knownOf(ids).knownPromptIds, known))

  it("stay as they are when the newest comes again", () => {
    const session = knownOf(["p1", "p2"])
    assert.strictEqual(knowing(session, "p2"), session)
  })
})

describe("a session", () => {
  it("counts each use, so that the timers before it are stale", () => {
    assert.containSubset(usedAt(usedAt(noSession, at(1)), at(2)), { useCount: 2, lastActivityAt: at(2) })
  })

  it("changes a turn only while that turn is open", () => {
    const { state } = given([newTurn(1)])
    const end = (turn: NonNullable<Session["turn"]>) => ({ ...turn, waits: 7 })
    assert.strictEqual(changeTurn(state, t(1), end).turn?.waits, 7)
    assert.strictEqual(changeTurn(state, t(2), end), state)
    assert.strictEqual(changeTurn(noSession, t(1), end), noSession)
  })

  it("has its work on its host until it ends", () => {
    const view = actor.view?.(given([newTurn(1), opened(1)]).state)
    assert.deepStrictEqual(workOfSession.by, ["session-manager"])
    assert.strictEqual(workOfSession.hostOf(view), "h1")
    for (const status of ["expired", "completed", "aborted", "failed"])
      assert.isUndefined(workOfSession.hostOf({ host: "h1", status }))
    for (const other of [undefined, {}, { host: "h1" }]) assert.isUndefined(workOfSession.hostOf(other))
  })

  it.each([
    ["", true],
    ["/work", true],
    ["work/", false],
    ["./work", false]
  ])("takes the directory '%s': %s", (directory, isTaken) => {
    const result = requireAbsoluteDirectory(directory)
    assert.strictEqual(result._tag === "Success", isTaken)
    if (result._tag === "Failure") assert.strictEqual(result.failure.code, "invalid")
  })

  it("quotes a directory that it does not take, but not more than 200 characters", () => {
    const result = requireAbsoluteDirectory("x".repeat(300))
    const message = `The directory '${"x".repeat(200)}' is not an absolute path.`
    assert.strictEqual(result._tag === "Failure" ? result.failure.reason : "", message)
  })
})
