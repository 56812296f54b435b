/** What the values of settings look like. */
import { addressPatternProblem, commandPatternProblem, filePatternProblem } from "@reprise/agent/patterns"
import { Schema } from "effect"

export const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
export const amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
export const fraction = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
export const text = Schema.NonEmptyString
export const port = count.check(Schema.isLessThanOrEqualTo(65_535))
export const webOrigin = text.check(
  Schema.makeFilter(
    (url) =>
      (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).origin === url) ||
      "Expected an address without a path, such as https://reprise.example.org"
  )
)
export const insideRepository = text.check(
  Schema.makeFilter((path) => !/^[/\\]|(^|[/\\])\.\.([/\\]|$)/.test(path) || "Expected a path inside the repository")
)
export const lines = Schema.Array(Schema.NonEmptyString)

/** `problemOf`: what is expected instead, or undefined for a valid pattern. */
const patterns = (problemOf: (pattern: string) => string | undefined) => {
  const isValid = (pattern: string) => {
    const problem = problemOf(pattern)
    return problem === undefined || `Expected ${problem}`
  }
  return Schema.Array(Schema.String.check(Schema.makeFilter(isValid)))
}
export const commands = patterns(commandPatternProblem)
export const files = patterns(filePatternProblem)
export const addresses = patterns(addressPatternProblem)
