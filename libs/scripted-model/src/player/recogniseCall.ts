import type { Kind, Script } from "../script/Script.ts"
import { type ModelRequest, roundOf, userTexts } from "./ModelRequest.ts"

/** What the prompts of a call tell about it. */
export interface RecognisedCall {
  /** From the first user message of the session, or "" when it names none. */
  readonly role: string
  readonly kind: Kind
  /** The prompt wants the report at the end of the work. */
  readonly reportsAtEnd: boolean
  /** From the newest user message that names both role and phase, else from the first one; "" when none names it. */
  readonly phase: string
  /** From the newest prompt that asks for no report; when it names none, 1 and one more for each follow-up. */
  readonly cycle: number
  /** How many user messages the conversation has. */
  readonly turn: number
  /** How often the model has called tools in this turn. */
  readonly round: number
  readonly firstUser: string
  readonly lastUser: string
}

const groupOne = (pattern: string, text: string): string | undefined => {
  const match = new RegExp(pattern).exec(text)
  return match?.[1] ?? match?.[0]
}

const showsReport = (text: string) => text.includes("JSON") && /\b(readiness|completedTasks)\b/.test(text)
/** A prompt for work that also says how to report at its end. */
const isReportedAtEnd = (text: string) => showsReport(text) && /\bend your last message with\b/i.test(text)
const isReportPrompt = (text: string) => showsReport(text) && !isReportedAtEnd(text)
const isContinue = (text: string) => text.startsWith("Continue the current session and complete all remaining tasks.")
const isFollowUp = (text: string) => /^(A new commit \(|Review commit \S+ once more\.)/.test(text)

const kindOf = (request: ModelRequest, lastUser: string): Kind => {
  if (request.tools.length === 0) {
    if (/\btitle\b/i.test(request.system)) return "title"
    if (/\b(summar|compact)/i.test(request.system)) return "summary"
  }
  if (isContinue(lastUser)) return "continue"
  if (isFollowUp(lastUser)) return "follow-up"
  return isReportPrompt(lastUser) ? "report" : "work"
}

/** Recognises role, kind, phase, cycle, turn and round of a call by the patterns of the script. */
export const recogniseCall = (script: Script, request: ModelRequest): RecognisedCall => {
  const texts = userTexts(request)
  const firstUser = texts[0] ?? ""
  const lastUser = texts.at(-1) ?? ""
  const header = texts.findLast(
    (text) => groupOne(script.rolePattern, text) !== undefined && groupOne(script.phasePattern, text) !== undefined
  )
  const prompts = texts.filter((text) => !isReportPrompt(text))
  const cycle = groupOne(script.cyclePattern, prompts.at(-1) ?? "")
  return {
    role: groupOne(script.rolePattern, firstUser) ?? "",
    kind: kindOf(request, lastUser),
    reportsAtEnd: isReportedAtEnd(lastUser),
    phase: groupOne(script.phasePattern, header ?? firstUser) ?? "",
    cycle: cycle === undefined ? 1 + texts.filter(isFollowUp).length : Number(cycle),
    turn: texts.length,
    round: roundOf(request),
    firstUser,
    lastUser
  }
}
