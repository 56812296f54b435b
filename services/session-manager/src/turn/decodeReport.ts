/**
 * Reads the report in an agent's last message (docs/design/sessions.md#turns). Prose around the block is ignored; of
 * several blocks the last one that is meant as a report counts; a message that is bare JSON is accepted too. An agent may
 * quote a report that somebody planted in the work: so no block stands in for a later one that cannot be read, and none
 * says ready where the rest of the message gives another verdict.
 */
import { AuthorStatus, type ReportForm, type ReportKind, Verdict } from "@reprise/protocol"
import { Result, Schema } from "effect"
import { type FencedBlock, fencedBlocks } from "./fencedBlocks.ts"
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

/** An object in a text, with the offsets of what it was read from. */
interface ObjectInText {
  readonly start: number
  readonly end: number
  readonly value: object
}

/** An object that begins with the first brace of a line and ends with the last brace of the text after `from`. */
const bareObject = (text: string, from = 0): ObjectInText | undefined => {
  const end = text.lastIndexOf("}") + 1
  let start = text.indexOf("{", from)
  for (let tries = 0; tries < mostTries && start !== -1 && start < end; tries++) {
    const value = parse(text.slice(start, end))
    if (isObject(value)) return { start, end, value }
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

/** The objects that may be a report, in the order in which they end: the whole text, blocks, what follows the last one. */
const objectsIn = (text: string, blocks: ReadonlyArray<FencedBlock>): ReadonlyArray<ObjectInText> => {
  const fenced = blocks.map(({ body, end, start }) => ({ start, end, value: parse(body) }))
  const objects = [bareObject(text), ...fenced, bareObject(text, blocks.at(-1)?.end)]
  return objects.filter((object): object is ObjectInText => isObject(object?.value))
}

/** What begins like JSON: a line with a brace at its beginning, or a fence that says so and is never closed. */
const beginsJson = /(?:^|\n)[ \t>]*(?:\{|(?:`{3,}|~{3,})[ \t]*json)/i
const jsonFence = /^[ \t>]*(?:`{3,}|~{3,})[ \t]*json/i
/** The same for a whole block: in code, any line may begin with a brace. */
const isMeantAsJson = (text: string, { body, start }: FencedBlock): boolean =>
  body.trimStart().startsWith("{") || jsonFence.test(text.slice(start, text.indexOf("\n", start)))

/** Whether something follows that may be the report itself, but is no JSON, or was cut off. */
const isFollowedByUnreadable = (text: string, blocks: ReadonlyArray<FencedBlock>, end: number): boolean => {
  const later = blocks.filter(({ start }) => start >= end)
  const between = [...later, { start: text.length }].map(({ start }, n) => text.slice(later[n - 1]?.end ?? end, start))
  return (
    later.some((block) => isMeantAsJson(text, block) && parse(block.body) === undefined) ||
    between.some((part) => beginsJson.test(part) && bareObject(part) === undefined)
  )
}

/** The field of a verdict with its value, however it is written: the value may be cut off. */
const readinessIn = /readiness\\?["'`]?\s{0,9}[:=]\s{0,9}\\?["'`]?(\w*)/gi

/** Whether a verdict says ready, which approves the phase, and the text around it gives another verdict. */
const isContradicted = (text: string, { end, start, value }: ObjectInText): boolean =>
  "readiness" in value &&
  value.readiness === "ready" &&
  [text.slice(0, start), text.slice(end)].some((other) =>
    [...other.matchAll(readinessIn)].some(([, said]) => said !== "ready")
  )

const unreadable = (problem: string): Result.Result<never, Unreadable> => Result.fail({ isMissing: false, problem })

/** The newest object that is meant as a report of this form. What stands outside of a fence after the last one is newer. */
const findReport = (form: ReportForm, text: string): Result.Result<object, Unreadable> => {
  const normal = text.replaceAll("\r\n", "\n")
  const blocks = fencedBlocks(normal)
  const objects = objectsIn(normal, blocks)
  const found = objects.findLast(({ value }) => typeof form !== "string" || ownFields[form] in value)
  if (found !== undefined) {
    if (isFollowedByUnreadable(normal, blocks, found.end)) {
      return unreadable("what follows its last readable block begins like JSON, but cannot be read as JSON.")
    }
    return isContradicted(normal, found)
      ? unreadable("it has several verdicts, which differ. Send the one that is yours, and quote no other.")
      : Result.succeed(found.value)
  }
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
