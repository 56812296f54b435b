import type { Match, TextMatch } from "../script/Script.ts"
import type { ModelRequest } from "./ModelRequest.ts"
import type { RecognisedCall } from "./recogniseCall.ts"

/** Whether a text meets a condition of a rule. */
const textMatches = (wanted: TextMatch, text: string): boolean => {
  if (typeof wanted === "string") return text.includes(wanted)
  const found =
    (wanted.contains === undefined || text.includes(wanted.contains)) &&
    (wanted.regex === undefined || new RegExp(wanted.regex, wanted.flags).test(text))
  return found !== (wanted.not ?? false)
}

const isOneOf = <A extends string | number>(wanted: A | ReadonlyArray<A>, actual: string | number): boolean =>
  (Array.isArray(wanted) ? wanted : [wanted]).some((value) => String(value) === String(actual))

const housekeeping = ["title", "summary"]

/**
 * Whether a rule applies to a call.
 * @param used the names of the rules that were used so far
 */
export const ruleMatches = (
  match: Match,
  request: ModelRequest,
  call: RecognisedCall,
  used: ReadonlySet<string>
): boolean => {
  const text = (wanted: TextMatch | undefined, actual: string) => wanted === undefined || textMatches(wanted, actual)
  const value = <A extends string | number>(wanted: A | ReadonlyArray<A> | undefined, actual: string | number) =>
    wanted === undefined || isOneOf(wanted, actual)
  const lastMessage = request.messages.at(-1)
  return (
    (match.kind === undefined ? !housekeeping.includes(call.kind) : isOneOf(match.kind, call.kind)) &&
    (match.afterTool ?? false) === (lastMessage?.role === "tool") &&
    value(match.role, call.role) &&
    value(match.phase, call.phase) &&
    value(match.cycle, call.cycle) &&
    value(match.userMessages, call.turn) &&
    value(match.session, request.session) &&
    value(match.protocol, request.protocol) &&
    text(match.model, request.model) &&
    text(match.system, request.system) &&
    text(match.firstUser, call.firstUser) &&
    text(match.lastUser, call.lastUser) &&
    text(match.lastMessage, lastMessage?.text ?? "") &&
    anyMessageMatches(match.anyMessage, request) &&
    (match.after === undefined || used.has(match.after)) &&
    (match.offers === undefined || offers(request, match.offers))
  )
}

const anyMessageMatches = (wanted: TextMatch | undefined, request: ModelRequest): boolean => {
  if (wanted === undefined) return true
  if (typeof wanted !== "string" && wanted.not === true)
    return request.messages.every((m) => textMatches(wanted, m.text))
  return request.messages.some((message) => textMatches(wanted, message.text))
}

const offers = (request: ModelRequest, tool: string) =>
  request.tools.some((offered) => offered.name.toLowerCase() === tool.toLowerCase())
