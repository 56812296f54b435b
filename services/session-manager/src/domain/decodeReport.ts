/**
 * Reads the report out of an agent's answer (sessions: Turns). Prose around the block is ignored; of several fenced
 * blocks the last one that is JSON counts; an answer that is bare JSON is taken too.
 */
import { AuthorStatus, type ReportKind, Verdict } from "@reprise/protocol"
import { Result, Schema } from "effect"

export type Report =
  | { readonly kind: "author-status"; readonly status: AuthorStatus }
  | { readonly kind: "verdict"; readonly verdict: Verdict }

const decodeStatus = Schema.decodeUnknownResult(AuthorStatus, { errors: "all" })
const decodeVerdict = Schema.decodeUnknownResult(Verdict, { errors: "all" })

/** A fence begins a line; the block may be indented or quoted, and its language is not looked at. */
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

/** An object that begins at some line of the text and ends with the text's last brace. */
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
  return Result.fail(blocks.length === 0 ? "it holds no fenced JSON block." : "its fenced block is no JSON object.")
}

const problemOf = (error: { readonly message: string }): string => {
  const text = error.message.trim()
  return text.length > 1500 ? `${text.slice(0, 1500)} …` : text
}

/** Items that share an id, or have none, could not be told apart later. */
const verdictProblem = (verdict: Verdict): string | undefined => {
  const ids = verdict.items.map((item) => item.id.trim())
  if (ids.includes("") || verdict.items.some((item) => item.title.trim() === "")) {
    return "every item needs an id and a title."
  }
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  return twice === undefined ? undefined : `two items have the id ${twice}.`
}

/** The report, or in a few words what is wrong with it (to follow "could not be read:"). */
export const decodeReport = (kind: ReportKind, text: string): Result.Result<Report, string> => {
  const found = findObject(text)
  if (Result.isFailure(found)) return Result.fail(found.failure)
  if (kind === "author-status") {
    const status = decodeStatus(found.success)
    return Result.isFailure(status)
      ? Result.fail(problemOf(status.failure))
      : Result.succeed({ kind, status: status.success })
  }
  const verdict = decodeVerdict(found.success)
  if (Result.isFailure(verdict)) return Result.fail(problemOf(verdict.failure))
  const problem = verdictProblem(verdict.success)
  return problem === undefined ? Result.succeed({ kind, verdict: verdict.success }) : Result.fail(problem)
}
