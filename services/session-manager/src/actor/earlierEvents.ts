/**
 * Journal events in the words of earlier versions. A journal is never rewritten, so what was written then is read in
 * today's words, for as long as sessions of that time may go on.
 */
import { Predicate } from "effect"

type Fields = Readonly<Record<string, unknown>>

const renamed = (fields: Fields, from: string, to: string): Fields => {
  if (!(from in fields)) return fields
  const { [from]: value, ...others } = fields
  return { ...others, [to]: value }
}

const named =
  (_tag: string) =>
  (event: Fields): Fields => ({ ...event, _tag })

/** Kinds of errors became triggers, beside those that are not errors. */
const triggerOf = (kind: unknown): unknown => (kind === "gone" ? kind : `error.${String(kind)}`)

/** By the event's name in the first version, in which sessions asked the gate themselves. */
const earlier: Readonly<Record<string, (event: Fields) => Fields>> = {
  PromptPlanned: named("PromptPrepared"),
  PromptDecided: named("AgentQuestionDecided"),
  PromptReplied: named("AgentQuestionAnswered"),
  PromptAskedAgain: (event) => named("AgentQuestionRepeated")(renamed(event, "askedAs", "runtimePromptId")),
  PromptClosed: named("AgentQuestionClosed"),
  QuestionAsked: ({ ask }) => ({
    _tag: "QuestionRaised",
    escalationId: Predicate.isObject(ask) && "escalationId" in ask ? ask.escalationId : undefined
  }),
  ActionCounted: (event) => renamed(event, "place", "index"),
  TurnWaiting: (event) => {
    const indexed = renamed(event, "place", "index")
    return "kind" in indexed ? { ...indexed, trigger: triggerOf(indexed["kind"]) } : indexed
  }
}

/** A stored event with today's name and fields. What is not an event, or new, is given back as it is. */
export const inTodaysWords = (stored: unknown): unknown => {
  if (!Predicate.isObject(stored) || !("_tag" in stored)) return stored
  const fields: Fields = { ...stored }
  return earlier[String(stored._tag)]?.(fields) ?? stored
}
