/**
 * Reads the report in an agent's last message (docs/design/sessions.md#turns). Prose around the block is ignored; of
 * several blocks the last one that is meant as a report counts; a message that is bare JSON is accepted too.
 */
import { AuthorStatus, type ReportForm, type ReportKind, Verdict } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { fencedBlocks } from "./fencedBlocks.ts"
import { type JsonObject, readJsonSchema } from "./reportSchema.ts"

export type AgentReport =
  | { readonly kind: "author-status"; readonly status: AuthorStatus }
  | { readonly kind: "verdict"; readonly verdict: Verdict }
  | { readonly kind: "data"; readonly data: JsonObject; readonly status?: AuthorStatus; readonly verdict?: Verdict }

const decodeStatus = Schema.decodeUnknownResult(AuthorStatus, { errors: "all" })
const decodeVerdict = Schema.decodeUnknownResult(Verdict, { errors: "all" })

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

/** A message with more lines that begin with a brace than this is code: each try reads to the end of the text. */
const mostTries = 32

/** An object that begins with the first brace of a line and ends with the last brace of the text. */
const bareObject = (text: string): object | undefined => {
  const end = text.lastIndexOf("}")
  let start = text.indexOf("{")
  for (let tries = 0; tries < mostTries && start !== -1 && start < end; tries++) {
    const value = parse(text.slice(start, end + 1))
    if (isObject(value)) return value
    start = text.indexOf("\n{", start)
    if (start !== -1) start += 1
  }
  return undefined
}

/** The message without the JSON block that it ends with: what a human is to read. */
export const withoutBlock = (text: string): string => {
  const normal = text.replaceAll("\r\n", "\n")
  const last = fencedBlocks(normal).at(-1)
  if (last === undefined || !isObject(parse(last.body))) return text
  return normal.slice(last.end).trim() === "" ? normal.slice(0, last.start).trimEnd() : text
}

/** Why there is no report. `problem`: words that can follow "could not be read:". */
export interface Unreadable {
  /** The message has nothing that could be meant as a report. */
  readonly isMissing: boolean
  readonly problem: string
}

/** The field that every report of the form has: other blocks of JSON are parts of the work. */
const ownFields = { "author-status": "result", verdict: "readiness" } as const satisfies Record<ReportKind, string>

/** The newest object that is meant as a report of this form. What stands outside of a fence after the last one is newer. */
const findReport = (form: ReportForm, text: string): Result.Result<object, Unreadable> => {
  const normal = text.replaceAll("\r\n", "\n")
  const blocks = fencedBlocks(normal)
  const last = blocks.at(-1)
  const bare = bareObject(last === undefined ? normal : normal.slice(last.end))
  const objects = [bareObject(normal), ...blocks.map(({ body }) => parse(body)), bare].filter(isObject)
  const found = objects.findLast((object) => typeof form !== "string" || ownFields[form] in object)
  if (found !== undefined) return Result.succeed(found)
  if (blocks.length === 0) return Result.fail({ isMissing: true, problem: "it has no fenced JSON block." })
  const problem =
    typeof form === "string" && objects.length > 0
      ? `no block of it has the field ${ownFields[form]}.`
      : "its fenced block is not a JSON object."
  return Result.fail({ isMissing: true, problem })
}

const longestProblem = 1500
const problemOf = (error: { readonly message: string }): string => {
  const text = error.message.trim()
  return text.length > longestProblem ? `${text.slice(0, longestProblem)} …` : text
}

/** Items are told apart by their ids later. */
const verdictProblem = (verdict: Verdict): string | undefined => {
  const ids = verdict.items.map((item) => item.id.trim())
  const seen = new Set<string>()
  if (ids.includes("") || verdict.items.some((item) => item.title.trim() === "")) {
    return "every item needs an id and a title."
  }
  const twice = ids.find((id) => seen.size === seen.add(id).size)
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

/** The newest report alone counts: an older one that fits may be a draft, or a quotation. */
export const decodeReport = (form: ReportForm, text: string): Result.Result<AgentReport, Unreadable> =>
  Result.flatMap(findReport(form, text), (found) =>
    Result.mapError(readAs(form, found), (problem) => ({ isMissing: false, problem }))
  )
