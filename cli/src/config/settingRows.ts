/** What the rows of the settings table are made of: how they are written, and what the values look like. */
import { isIP } from "node:net"
import { addressPatternProblem, commandPatternProblem, filePatternProblem } from "@reprise/agent/patterns"
import { Schema } from "effect"

export interface Row<A> {
  readonly schema: Schema.Codec<A, unknown>
  /** undefined: unset. */
  readonly fallback: A
  /** A value to show where there is no default. */
  readonly example?: unknown
  readonly description: string
  /** Somebody may have written a secret into it by mistake, so no message quotes it. */
  readonly mayHoldSecret?: boolean
  /** The lists of all places count, so that none takes away what another one holds back. */
  readonly addsUp?: boolean
}

export const setting = <A, I>(schema: Schema.Codec<A, I>, fallback: NoInfer<A>, description: string): Row<A> => ({
  schema,
  fallback,
  description
})

/** Without a default. */
export const unset = <A, I>(
  schema: Schema.Codec<A, I>,
  example: NoInfer<A>,
  description: string
): Row<A | undefined> => ({
  schema,
  fallback: undefined,
  example,
  description
})

export const adding = <A>(row: Row<A>): Row<A> => ({ ...row, addsUp: true })

/** No message quotes its value. */
export const unquoted = <A>(row: Row<A>): Row<A> => ({ ...row, mayHoldSecret: true })

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
export const listenAddress = text.check(
  Schema.makeFilter(
    (address) =>
      isIP(address) !== 0 || address === "localhost" || "Expected an IP address of this machine, such as 0.0.0.0"
  )
)
export const headerName = text.check(
  Schema.isPattern(/^[A-Za-z0-9-]{1,64}$/, { message: "Expected the name of a header, such as X-Forwarded-Email" })
)
export const insideRepository = text.check(
  Schema.makeFilter((path) => !/^[/\\]|(^|[/\\])\.\.([/\\]|$)/.test(path) || "Expected a path inside the repository")
)
export const lines = Schema.Array(Schema.NonEmptyString)
export const variableNames = Schema.Array(Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]*$/)))

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
