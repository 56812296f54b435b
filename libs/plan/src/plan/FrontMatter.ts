/**
 * The optional YAML block at the top of a plan: `id`, `title`, `gates`, `limits` (docs/design/continuation.md#plans).
 * `gates` and `limits` are requests with the names of the run's options, kept as plain data. A plan is not trusted
 * configuration: its `gates.quality` and `gates.verify` must never be run without the approval that commands in
 * `reprise.toml` need.
 */
import type { GateOptions, RunLimits } from "@reprise/protocol"
import { Result, Schema, SchemaIssue, SchemaParser } from "effect"
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml"
import { type PlanProblem, planProblem, suggest } from "./PlanProblem.ts"

const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const line = Schema.String.check(Schema.isPattern(/\S/, { message: "must not be empty" }))

export const PlanGates = Schema.Struct({
  quality: Schema.optionalKey(Schema.Array(line)),
  qualityTimeoutMs: Schema.optionalKey(count),
  verify: Schema.optionalKey(Schema.Array(line)),
  environment: Schema.optionalKey(Schema.Array(line)),
  phase: Schema.optionalKey(Schema.Literals(["auto", "human"]))
} satisfies Record<keyof GateOptions, unknown>)
export type PlanGates = typeof PlanGates.Type

export const PlanLimits = Schema.Struct({
  maxReviewIterations: Schema.optionalKey(count),
  maxQualityRetries: Schema.optionalKey(count),
  maxAutoRetries: Schema.optionalKey(count),
  maxStepVisits: Schema.optionalKey(count),
  maxStepsPerRun: Schema.optionalKey(count),
  maxContinuations: Schema.optionalKey(count),
  turnInactivityMs: Schema.optionalKey(count),
  turnWallMs: Schema.optionalKey(count),
  maxAgentTurns: Schema.optionalKey(count),
  maxTurnCalls: Schema.optionalKey(count),
  maxTurnTokens: Schema.optionalKey(count),
  unattendedWaitMs: Schema.optionalKey(count),
  stuckAfterMs: Schema.optionalKey(count),
  tokenBudget: Schema.optionalKey(count),
  costBudget: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)))
} satisfies Record<keyof RunLimits, unknown>)
export type PlanLimits = typeof PlanLimits.Type

/** A plan's name in the state file and in paths. */
export const PlanId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    message: "must be 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit"
  })
)

export const FrontMatter = Schema.Struct({
  id: Schema.optionalKey(PlanId),
  title: Schema.optionalKey(line),
  gates: Schema.optionalKey(PlanGates),
  limits: Schema.optionalKey(PlanLimits)
})
export type FrontMatter = typeof FrontMatter.Type

/** The keys allowed at the top (`""`) and under `gates` and `limits`. */
const knownKeys: Readonly<Record<string, ReadonlyArray<string>>> = {
  "": Object.keys(FrontMatter.fields),
  gates: Object.keys(PlanGates.fields),
  limits: Object.keys(PlanLimits.fields)
}

const decode = SchemaParser.decodeUnknownResult(FrontMatter, { errors: "all", onExcessProperty: "error" })
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()
const maxAliases = 10

/** In UTF-16 units. The YAML parser takes quadratic time in the length for some that is wrong. */
const maxFrontMatterLength = 16 * 1024

/**
 * Decodes YAML 1.2 with known keys only, or gives every problem at its own line and column. `line` is the line of the
 * opening fence: the YAML begins on the next one. An empty block is allowed.
 */
export const readFrontMatter = (yaml: string, line: number): Result.Result<FrontMatter, ReadonlyArray<PlanProblem>> => {
  const lines = new LineCounter()
  if (yaml.length > maxFrontMatterLength) {
    const tooLarge = `the front matter has ${yaml.length} characters, more than the ${maxFrontMatterLength} allowed; move long commands into scripts.`
    return Result.fail([planProblem("too-large", { line, column: 1 }, tooLarge)])
  }
  const document = parseDocument(yaml, { lineCounter: lines, schema: "core", logLevel: "silent", prettyErrors: false })
  const positionOf = (offset: number) => {
    const { line: yamlLine, col } = lines.linePos(offset)
    return { line: line + Math.max(yamlLine, 1), column: Math.max(col, 1) }
  }
  const syntaxErrors = [...document.errors, ...document.warnings].map((error) =>
    planProblem(
      "front-matter-syntax",
      positionOf(error.pos[0]),
      `the front matter is not YAML: ${error.message.split("\n")[0]}; fix it.`
    )
  )
  if (syntaxErrors.length > 0) return Result.fail(syntaxErrors)
  const data = plainData(document)
  if (Result.isFailure(data)) {
    return Result.fail([
      planProblem(
        "front-matter-syntax",
        positionOf(0),
        "the front matter expands too many aliases, or nests too deep; write plain values."
      )
    ])
  }
  if (data.success === null && yaml.trim() === "") return Result.succeed({})
  return Result.mapError(decode(data.success), (issue) =>
    issuesOf(issue).issues.map((found) => {
      const path = (found.path ?? []).map((key) => (typeof key === "object" ? key.key : key))
      return planProblem("front-matter-field", positionOf(offsetOf(document, path)), messageOf(path, found.message))
    })
  )
}

const plainData = (document: Document): Result.Result<unknown, unknown> =>
  Result.try({ try: (): unknown => document.toJS({ maxAliasCount: maxAliases }), catch: (cause) => cause })

/** The offset of the key at a path, or of the value where the path has no key. */
const offsetOf = (document: Document, path: ReadonlyArray<PropertyKey>): number => {
  const parent = document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === last) : undefined
  const node = pair?.key ?? document.getIn(path, true)
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

const messageOf = (path: ReadonlyArray<PropertyKey>, message: string): string => {
  if (path.length === 0) return "the front matter must be keys and values: 'id', 'title', 'gates', 'limits'."
  const known = knownKeys[path.slice(0, -1).map(String).join(".")]
  const key = String(path.at(-1))
  if (known !== undefined && !known.includes(key)) return `unknown key '${key}'; ${suggest(key, known)}`
  const hint = message === "Expected string" ? "; put it in quotes" : ""
  return `'${path.map(String).join(".")}': ${message.charAt(0).toLowerCase()}${message.slice(1)}${hint}.`
}
