/** Decodes a plan's front matter: YAML 1.2, known keys only, each problem at its own line and column. */
import { Result, SchemaIssue, SchemaParser } from "effect"
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml"
import { FrontMatter, frontMatterKeys } from "./FrontMatter.ts"
import { type PlanProblem, planProblem } from "./PlanProblem.ts"
import { suggest } from "./suggest.ts"

const decode = SchemaParser.decodeUnknownResult(FrontMatter, { errors: "all", onExcessProperty: "error" })
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()
const maxAliases = 10

/** `line` is the line of the opening fence: the YAML begins on the next one. An empty block is allowed. */
export const readFrontMatter = (yaml: string, line: number): Result.Result<FrontMatter, ReadonlyArray<PlanProblem>> => {
  const lines = new LineCounter()
  const document = parseDocument(yaml, { lineCounter: lines, schema: "core", logLevel: "silent", prettyErrors: false })
  const placeOf = (offset: number) => {
    const { line: yamlLine, col } = lines.linePos(offset)
    return { line: line + Math.max(yamlLine, 1), column: Math.max(col, 1) }
  }
  const broken = [...document.errors, ...document.warnings].map((error) =>
    planProblem(
      "front-matter-syntax",
      placeOf(error.pos[0]),
      `the front matter is not YAML: ${error.message.split("\n")[0]}; mend it.`
    )
  )
  if (broken.length > 0) return Result.fail(broken)
  const data = plainData(document)
  if (Result.isFailure(data)) {
    return Result.fail([
      planProblem("front-matter-syntax", placeOf(0), "the front matter repeats itself by aliases; write it out.")
    ])
  }
  if (data.success === null && yaml.trim() === "") return Result.succeed({})
  return Result.mapError(decode(data.success), (issue) =>
    issuesOf(issue).issues.map((found) => {
      const path = (found.path ?? []).map((key) => (typeof key === "object" ? key.key : key))
      return planProblem("front-matter-field", placeOf(offsetOf(document, path)), messageOf(path, found.message))
    })
  )
}

const plainData = (document: Document): Result.Result<unknown, unknown> =>
  Result.try({ try: (): unknown => document.toJS({ maxAliasCount: maxAliases }), catch: (cause) => cause })

/** The offset of the key at a path, or of the value where there is no key. */
const offsetOf = (document: Document, path: ReadonlyArray<PropertyKey>): number => {
  const parent = document.getIn(path.slice(0, -1), true)
  const last = path.at(-1)
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === last) : undefined
  const node = pair?.key ?? document.getIn(path, true)
  return isNode(node) ? (node.range?.[0] ?? 0) : 0
}

const messageOf = (path: ReadonlyArray<PropertyKey>, message: string): string => {
  if (path.length === 0) return "the front matter must be keys and values: 'id', 'title', 'gates', 'limits'."
  const known = frontMatterKeys[path.slice(0, -1).map(String).join(".")]
  const key = String(path.at(-1))
  if (known !== undefined && !known.includes(key)) return `unknown key '${key}'; ${suggest(key, known)}`
  const hint = message === "Expected string" ? "; put it in quotes" : ""
  return `'${path.map(String).join(".")}': ${message.charAt(0).toLowerCase()}${message.slice(1)}${hint}.`
}
