/**
 * Reads the report in an agent's last message (docs/design/sessions.md#turns). Prose around the block is ignored; of
 * several fenced blocks the last one that fits counts; a message that is bare JSON is accepted too.
 */
import { AuthorStatus, type ReportForm, Verdict } from "@reprise/protocol"
import { Array as Arr, Result, Schema } from "effect"
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

const blocksOf = (text: string) => [...text.replaceAll("\r\n", "\n").matchAll(fenced)]

/** The message without the JSON block that it ends with: what a human is to read. */
export const withoutBlock = (text: string): string => {
  const normal = text.replaceAll("\r\n", "\n")
  const last = blocksOf(normal).at(-1)
  if (last === undefined || !isObject(parse(last[2] ?? ""))) return text
  return normal.slice(last.index + last[0].length).trim() === "" ? normal.slice(0, last.index).trimEnd() : text
}

/** Why there is no report. `problem`: words that can follow "could not be read:". */
export interface Unreadable {
  /** The message has nothing that could be meant as a report. */
  readonly isMissing: boolean
  readonly problem: string
}

/** The newest first. */
const findObjects = (text: string): Result.Result<Arr.NonEmptyReadonlyArray<object>, Unreadable> => {
  const blocks = blocksOf(text).map((match) => match[2] ?? "")
  const found = blocks.map(parse).filter(isObject).toReversed()
  const objects = found.length > 0 ? found : [bareObject(text.replaceAll("\r\n", "\n"))].filter(isObject)
  if (Arr.isReadonlyArrayNonEmpty(objects)) return Result.succeed(objects)
  return Result.fail(
    blocks.length === 0
      ? { isMissing: true, problem: "it has no fenced JSON block." }
      : { isMissing: false, problem: "its fenced block is not a JSON object." }
  )
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

const readAs = (form: ReportForm, found: object): Result.Result<AgentReport, string> => {
  if (form === "author-status") return Result.map(readStatus(found), (status) => ({ kind: form, status }))
  if (form === "verdict") return Result.map(readVerdict(found), (verdict) => ({ kind: form, verdict }))
  return readData(form, found)
}

/** The newest block that fits; if none does, what is wrong with the newest one. */
export const decodeReport = (form: ReportForm, text: string): Result.Result<AgentReport, Unreadable> =>
  Result.flatMap(findObjects(text), (objects) => {
    const read = objects.map((found) => readAs(form, found))
    const newest = readAs(form, objects[0])
    return Result.mapError(read.find(Result.isSuccess) ?? newest, (problem) => ({ isMissing: false, problem }))
  })
