/** Reads the state of a turn from a session's messages. Pure. */
import type { AssistantMessage, Message, Part } from "@opencode-ai/sdk/v2/client"
import { addTokens, noTokens, type Tokens } from "@reprise/protocol"
import type { StopReason, TurnOutcome } from "../../AgentRuntimeShape.ts"
import type { OpenCodeError } from "./failures.ts"

/** A message with its parts, as the list gives it. */
export interface Listed {
  readonly info: Message
  readonly parts: ReadonlyArray<Part>
}

/**
 * `absent`: OpenCode never took the prompt. `unfinished`: the turn runs, or was cut off. `paused`: the last message ended
 * with tool calls; if nothing runs, a refusal ended the turn. `failed` includes an abort.
 */
export type Turn =
  | { readonly _tag: "absent" }
  | { readonly _tag: "unfinished"; readonly open: ReadonlyArray<Listed>; readonly outcome: TurnOutcome }
  | { readonly _tag: "paused"; readonly outcome: TurnOutcome }
  | { readonly _tag: "finished"; readonly outcome: TurnOutcome }
  | { readonly _tag: "failed"; readonly error: OpenCodeError; readonly outcome: TurnOutcome }

export const tokensOf = (tokens: AssistantMessage["tokens"]): Tokens => ({
  input: tokens.input,
  output: tokens.output,
  reasoning: tokens.reasoning,
  cacheRead: tokens.cache.read,
  cacheWrite: tokens.cache.write
})

interface ListedAssistant {
  readonly info: AssistantMessage
  readonly parts: ReadonlyArray<Part>
}

const isAssistant = (message: Listed): message is ListedAssistant => message.info.role === "assistant"

/** One for each call of the model. */
export const answersIn = (messages: ReadonlyArray<Listed>): ReadonlyArray<ListedAssistant> =>
  messages.filter(isAssistant)

/** A summary shortens the conversation and does not end a turn. */
const isSummary = (message: ListedAssistant) => message.info.summary === true

/** Of a message that is not a summary: whether the turn ends with it. */
export const isEnd = ({ error, finish }: Pick<AssistantMessage, "error" | "finish">): boolean =>
  error !== undefined || (finish !== undefined && finish !== "tool-calls" && finish !== "unknown")

const ends = (message: ListedAssistant): boolean => !isSummary(message) && isEnd(message.info)

/**
 * The assistant messages of a prompt's turn: all that follow the prompt, up to the first prompt after the turn's end.
 * User messages in between are OpenCode's (it shortened the conversation) or a human's (added to the running turn);
 * the answers to them belong to the turn.
 */
const messagesOfTurn = (messages: ReadonlyArray<Listed>, messageId: string): ReadonlyArray<ListedAssistant> => {
  const turn: Array<ListedAssistant> = []
  for (const message of messages.slice(messages.findIndex((it) => it.info.id === messageId) + 1)) {
    if (isAssistant(message)) turn.push(message)
    else if (turn.some(ends)) break
  }
  return turn
}

/** The first message after a prompt's turn; undefined: there is none yet. */
export const firstAfterTurn = (messages: ReadonlyArray<Listed>, messageId: string): string | undefined => {
  const last = messagesOfTurn(messages, messageId).at(-1)?.info.id ?? messageId
  return messages[messages.findIndex(({ info }) => info.id === last) + 1]?.info.id
}

/** OpenCode wrote it itself, for example to shorten the conversation. */
const isOpenCodes = ({ parts }: Listed): boolean =>
  parts.length > 0 &&
  parts.every((part) => part.type === "compaction" || (part.type === "text" && part.synthetic === true))

/** Whether somebody else prompted the session after the turn had ended. The turn's own prompt is the newest of ours. */
const isSpokenAfter = (messages: ReadonlyArray<Listed>, last: ListedAssistant | undefined): boolean =>
  last !== undefined &&
  ends(last) &&
  messages
    .slice(messages.findIndex(({ info }) => info.id === last.info.id) + 1)
    .some((message) => message.info.role === "user" && !isOpenCodes(message))

/** The prompt that a message of the session belongs to: the newest one before it that OpenCode did not write itself. */
export const causeOf = (messages: ReadonlyArray<Listed>, messageId: string): string | undefined =>
  messages
    .slice(0, messages.findIndex(({ info }) => info.id === messageId) + 1)
    .findLast((message) => message.info.role === "user" && !isOpenCodes(message))?.info.id

/**
 * Whether the turn has made its rounds: calls of the model that ended with tool calls, in answer to its own prompt. What
 * somebody else has asked for since is theirs, and is not cut off.
 */
export const hasMadeRounds = (messages: ReadonlyArray<Listed>, messageId: string, maxRounds: number): boolean => {
  const newest = messages.findLast((message) => message.info.role === "user" && !isOpenCodes(message))
  const rounds = messagesOfTurn(messages, messageId).filter(
    ({ info }) => info.finish === "tool-calls" && causeOf(messages, info.parentID) === messageId
  )
  return newest?.info.id === messageId && rounds.length >= maxRounds
}

const stopReasonOf = (finish: string | undefined): StopReason => {
  if (finish === "stop" || finish === "end_turn") return "finished"
  if (finish === "tool-calls") return "refused"
  return finish === "length" ? "output-limit" : "other"
}

const textOf = (message: Listed | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === "text" && part.ignored !== true ? [part.text] : [])).join("")

const sum = ({ cacheRead, cacheWrite, input, output, reasoning }: Tokens): number =>
  input + output + reasoning + cacheRead + cacheWrite

const modelName = ({ info }: ListedAssistant): string => `${info.providerID}/${info.modelID}`

/** How full the newest model call was; absent when it failed before its usage was known. */
const contextOf = (last: ListedAssistant | undefined): Pick<TurnOutcome, "context"> => {
  const tokens = last === undefined ? 0 : sum(tokensOf(last.info.tokens))
  return tokens === 0 ? {} : { context: { tokens } }
}

/** What somebody else said during the turn, if its last answer is to that. */
const answeredIn = (messages: ReadonlyArray<Listed>, messageId: string, last: ListedAssistant | undefined) => {
  const answered = last === undefined ? undefined : causeOf(messages, last.info.parentID)
  return answered === undefined || answered === messageId ? {} : { answered }
}

const outcomeOf = (
  messages: ReadonlyArray<Listed>,
  messageId: string,
  turn: ReadonlyArray<ListedAssistant>
): TurnOutcome => {
  const last = turn.findLast((message) => !isSummary(message))
  return {
    text: textOf(last),
    stopReason: stopReasonOf(last?.info.finish),
    tokens: turn.map(({ info }) => tokensOf(info.tokens)).reduce(addTokens, noTokens),
    cost: turn.reduce((sum, { info }) => sum + info.cost, 0),
    toolCalls: turn.flatMap(({ parts }) => parts).filter((part) => part.type === "tool").length,
    ...(last === undefined ? {} : { model: modelName(last) }),
    ...(last?.info.finish === undefined ? {} : { finish: last.info.finish }),
    ...contextOf(last),
    ...(isSpokenAfter(messages, turn.at(-1)) ? { spokenAfter: true } : {}),
    ...answeredIn(messages, messageId, last)
  }
}

/** The turn of a prompt. Whether the session is busy is not known here. */
export const turnOf = (messages: ReadonlyArray<Listed>, messageId: string): Turn => {
  if (!messages.some((message) => message.info.id === messageId)) return { _tag: "absent" }
  const turn = messagesOfTurn(messages, messageId)
  const outcome = outcomeOf(messages, messageId, turn)
  const last = turn.at(-1)
  if (last === undefined || isSummary(last)) return { _tag: "unfinished", open: [], outcome }
  const { error, finish, time } = last.info
  if (error !== undefined) return { _tag: "failed", error, outcome }
  if (ends(last)) return { _tag: "finished", outcome }
  if (finish === "tool-calls" && time.completed !== undefined) return { _tag: "paused", outcome }
  return { _tag: "unfinished", open: [last], outcome }
}

/** Splits `provider/model`; undefined for a name without a provider. */
export const modelOf = (model: string | undefined) => {
  const slash = model?.indexOf("/") ?? -1
  if (model === undefined || slash < 1) return undefined
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) }
}

/** `provider/model` of the newest answer. */
export const modelOfLast = (messages: ReadonlyArray<Listed>): string | undefined => {
  const last = answersIn(messages).findLast((message) => !isSummary(message))
  return last === undefined ? undefined : modelName(last)
}

const subagentsIn = (messages: ReadonlyArray<Listed>): ReadonlyArray<string> =>
  messages
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === "tool" && part.tool === "task" && "metadata" in part.state ? [part.state] : []))
    .map((state) => state.metadata?.sessionId)
    .filter((id) => typeof id === "string")

export const startsSubagents = (messages: ReadonlyArray<Listed>): boolean => subagentsIn(messages).length > 0

/** In OpenCode's time, as its messages have it. */
export interface Period {
  readonly fromMs: number
  readonly untilMs: number
}

/** From a prompt to the first message after its turn. */
export const periodOf = (messages: ReadonlyArray<Listed>, messageId: string): Period => {
  const last = messagesOfTurn(messages, messageId).at(-1)
  const end = messages.findIndex(({ info }) => info.id === last?.info.id)
  const after = end === -1 ? undefined : messages[end + 1]
  return {
    fromMs: messages.find(({ info }) => info.id === messageId)?.info.time.created ?? 0,
    untilMs: after?.info.time.created ?? Number.POSITIVE_INFINITY
  }
}

/** Sessions of the turn's subagents, whose tokens are not included in its own. */
export const subagentsOf = (messages: ReadonlyArray<Listed>, messageId: string): ReadonlySet<string> =>
  new Set(subagentsIn(messagesOfTurn(messages, messageId)))
