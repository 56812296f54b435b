import { assert, describe, it } from "@effect/vitest"
import { findViolation, type Model, type Operation } from "../src/index.ts"

type Input = { readonly set: number; readonly expected: number } | "read"
type Output = "set" | "refused" | number

/** A number that is set where it is as expected. */
const register: Model<number, Input, Output> = {
  initial: 0,
  step: (state, input, output) => {
    if (input === "read") return output === undefined || output === state ? state : undefined
    const isMet = input.expected === state
    if (output === undefined) return isMet ? input.set : state
    if (isMet !== (output === "set")) return undefined
    return isMet ? input.set : state
  },
  show: String
}

const at = (
  calledAt: number,
  returnedAt: number,
  input: Input,
  output: Output | undefined
): Operation<Input, Output> => ({ input, output, calledAt, returnedAt })
const set = (value: number, expected: number) => ({ set: value, expected })

describe("a history", () => {
  it("is linearizable when one order fits, however the operations overlap", () => {
    assert.isUndefined(
      findViolation(register, [
        at(1, 9, set(2, 1), "set"),
        at(2, 5, set(1, 0), "set"),
        at(3, 4, "read", 0),
        at(6, 8, "read", 1),
        at(10, 11, "read", 2)
      ])
    )
  })

  it("is not when a read that began later sees what is older", () => {
    assert.match(
      findViolation(register, [at(1, 2, set(1, 0), "set"), at(3, 4, "read", 0)]) ?? "",
      /^No order fits[\s\S]+none of these fits:\n {2}\{"input":"read","output":0/
    )
  })

  it("is not when two win one race, or when one that was refused has won", () => {
    assert.isDefined(findViolation(register, [at(1, 4, set(1, 0), "set"), at(2, 3, set(2, 0), "set")]))
    assert.isDefined(findViolation(register, [at(1, 2, set(1, 0), "refused"), at(3, 4, "read", 1)]))
  })

  it("may hold what nobody knows the outcome of: it happened at any time since, or never", () => {
    const unknown = at(1, 2, set(1, 0), undefined)
    assert.isUndefined(findViolation(register, [unknown, at(5, 6, "read", 0), at(7, 8, "read", 1)]))
    assert.isUndefined(findViolation(register, [unknown, at(5, 6, set(2, 0), "set"), at(7, 8, "read", 2)]))
    assert.isDefined(findViolation(register, [unknown, at(5, 6, "read", 1), at(7, 8, "read", 0)]))
  })

  it("of a hundred operations side by side is judged at once", () => {
    const many = Array.from({ length: 100 }, (_, n) => at(n, n + 8, set(n + 1, n), "set"))
    assert.isUndefined(findViolation(register, many))
  })
})
