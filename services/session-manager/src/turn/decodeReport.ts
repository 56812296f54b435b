/**
 * Reads the report in an agent's last message (docs/design/sessions.md#turns). Prose around the block is ignored; of
 * several fenced blocks the last one that is JSON counts; a message that is bare JSON is accepted too.
 */
import { AuthorStatus, type ReportForm, Verdict } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { type JsonObject, readJsonSchema } from "./reportSchema.ts"

export type AgentReport =
  | { readonly kind: "author-status"; readonly status: AuthorStatus }
  | { readonly kind: "verdict"; readonly verdict: Verdict }
  | { readonly kind: "data"; readonly data: JsonObject; readonly status?: AuthorStatus; readonly verdict?: Verdict }

const decodeStatus = Schema.decodeUnknownResult(AuthorStatus, { errors: "all" })
const decodeVerdict = Schema.decodeUnknownResult(Verdict, { errors: "all" })

/** A fence begins a line; the block may be indented or quoted, in any language. */
const fenced = /^[ \t>]*(`{3,}|~{3,})[^\n]*\n([\s\S]*?)^[ \t>]*\1[ \t]*$/gm

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Models write null for what they leave out. */
const withoutNulls = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text, withoutNulls)
  } catch {
    return undefined
  }
}

/** An object that begins with the first brace of a line and ends with the last brace of the text. */
const bareObject = (text: string): object | undefined => {
  const end = text.lastIndexOf("}")
  for (let start = text.indexOf("{"); start !== -1 && start < end; start = text.indexOf("\n{", start)) {
    const value = parse(text.slice(start, end + 1))
    if (isObject(value)) return value
    start += 1
  }
  return undefined
}

const findObject = (text: string): Result.Result<object, string> => {
  const normal = text.replaceAll("\r\n", "\n")
  const blocks = [...normal.matchAll(fenced)].map((match) => match[2] ?? "")
  const found = blocks.map(parse).findLast(isObject) ?? bareObject(normal)
  if (found !== undefined) return Result.succeed(found)
  return Result.fail(blocks.length === 0 ? "it has no fenced JSON block." : "its fenced block is not a JSON object.")
}

const longestProblem = 1500
const problemOf = (error: { readonly message: string }): string => {
  const text = error.message.trim()
  return text.length > longestProblem ? `${text.slice(0, longestProblem)} …` : text
}

/** Items are told apart by their ids later. */
const verdictProblem = (verdict: Verdict): string | undefined => {
  const ids = verdict.items.map((item) => item.id.trim())
  if (ids.includes("") || verdict.items.some((item) => item.title.trim() === "")) {
    return "every item needs an id and a title."
  }
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? undefined : `two items have the id ${twice}.`
}

const readStatus = (found: object): Result.Result<AuthorStatus, string> =>
  Result.mapError(decodeStatus(found), problemOf)

const readVerdict = (found: object): Result.Result<Verdict, string> =>
  Result.flatMap(Result.mapError(decodeVerdict(found), problemOf), (verdict) => {
    const problem = verdictProblem(verdict)
    return problem === undefined ? Result.succeed(verdict) : Result.fail(problem)
  })

/** A report that fits a caller's own schema is passed on as it is, and as a status or verdict too where it is one. */
const readData = (form: JsonObject, found: object): Result.Result<AgentReport, string> =>
  Result.map(
    Result.flatMap(readJsonSchema(form), (read) => read(found)),
    (data) => {
      const status = readStatus(found)
      const verdict = readVerdict(found)
      return {
        kind: "data",
        data,
        ...(Result.isSuccess(status) ? { status: status.success } : {}),
        ...(Result.isSuccess(verdict) ? { verdict: verdict.success } : {})
      }
    }
  )

/** The report, or what is wrong with it, in words that can follow "could not be read:". */
export const decodeReport = (form: ReportForm, text: string): Result.Result<AgentReport, string> =>
  Result.flatMap(findObject(text), (found): Result.Result<AgentReport, string> => {
    if (form === "author-status") return Result.map(readStatus(found), (status) => ({ kind: form, status }))
    if (form === "verdict") return Result.map(readVerdict(found), (verdict) => ({ kind: form, verdict }))
    return readData(form, found)
  })
