import { Effect, Schema } from "effect"

/**
 * The format of a script: what the scripted model answers, to whom, and when.
 *
 * A **turn** is everything after a session's newest user message. Rules are tried in order, and the first one that
 * matches answers the turn: step 0 at once, step 1 after the first tool result, and so on. A client that repeats a
 * call (after a crash or a dropped stream) gets the same step again, and no use of the rule is counted.
 */

const compiles = (pattern: string): true | string => {
  try {
    new RegExp(pattern)
    return true
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

/** The source of a regular expression that compiles. */
const Pattern = Schema.String.check(Schema.makeFilter(compiles))

/** A condition on a text. A plain string must be contained in it; `not` turns the condition around. */
export const TextMatch = Schema.Union([
  Schema.String,
  Schema.Struct({
    contains: Schema.optionalKey(Schema.String),
    regex: Schema.optionalKey(Pattern),
    flags: Schema.optionalKey(Schema.String),
    not: Schema.optionalKey(Schema.Boolean)
  })
])
export type TextMatch = typeof TextMatch.Type

/**
 * The purpose of a call, recognised from its newest user message: `continue` and `follow-up` by their first words,
 * `report` by the word JSON and the property names of a report. `title` and `summary` are calls that an agent runtime
 * makes for itself, recognised by a system prompt in a call without tools. `work` is everything else.
 */
export const Kind = Schema.Literals(["work", "report", "continue", "follow-up", "title", "summary"])
export type Kind = typeof Kind.Type

const oneOrMore = <S extends Schema.Top>(schema: S) => Schema.Union([schema, Schema.NonEmptyArray(schema)])
const Phase = Schema.Union([Schema.Finite, Schema.String])

/** How a client talks to the model: `openai` is chat completions, `responses` OpenAI's newer protocol. */
export const ProtocolName = Schema.Literals(["openai", "responses", "anthropic", "google"])
export type ProtocolName = typeof ProtocolName.Type

/** Every given field must hold. An empty match holds for every turn except `title` and `summary`. */
export const Match = Schema.Struct({
  role: Schema.optionalKey(oneOrMore(Schema.String)),
  kind: Schema.optionalKey(oneOrMore(Kind)),
  phase: Schema.optionalKey(oneOrMore(Phase)),
  cycle: Schema.optionalKey(oneOrMore(Schema.Int)),
  session: Schema.optionalKey(Schema.String),
  protocol: Schema.optionalKey(ProtocolName),
  model: Schema.optionalKey(TextMatch),
  system: Schema.optionalKey(TextMatch),
  firstUser: Schema.optionalKey(TextMatch),
  lastUser: Schema.optionalKey(TextMatch),
  lastMessage: Schema.optionalKey(TextMatch),
  anyMessage: Schema.optionalKey(TextMatch),
  userMessages: Schema.optionalKey(oneOrMore(Schema.Int)),
  /** `true`: match only calls whose last message is a tool result. Default: match only the beginning of a turn. */
  afterTool: Schema.optionalKey(Schema.Boolean),
  /** The rule of this name must have been used before. */
  after: Schema.optionalKey(Schema.String),
  /** This tool (generic name) must be offered. */
  offers: Schema.optionalKey(Schema.String)
})
export type Match = typeof Match.Type

/** A tool call by generic name (`bash`, `write`, `edit`, `read`, or any name that is offered) and arguments. */
export const ToolCall = Schema.Struct({
  tool: Schema.String,
  args: Schema.Record(Schema.String, Schema.Json)
})
export type ToolCall = typeof ToolCall.Type

/** A fault that is injected the first `times` (default 1) that the step is asked for. */
export const Fault = Schema.Struct({
  times: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))),
  /** Cut the connection after this many characters of text or tool arguments. */
  disconnectAfterChars: Schema.optionalKey(Schema.Int),
  /** Answer with this HTTP status and body instead. */
  status: Schema.optionalKey(Schema.Int),
  body: Schema.optionalKey(Schema.Json),
  /** With a status of 429 or 503: the `retry-after` header. */
  retryAfterSeconds: Schema.optionalKey(Schema.Finite)
})
export type Fault = typeof Fault.Type

/** Wait until a test releases the name: before anything is sent, or after some characters of the reply. */
const Hold = Schema.Union([
  Schema.String,
  Schema.Struct({ name: Schema.String, afterChars: Schema.optionalKey(Schema.Int) })
])

/** Token counts to report instead of the counted ones. `inputTokens` includes the cached tokens. */
const UsageOverride = Schema.Struct({
  inputTokens: Schema.optionalKey(Schema.Int),
  cachedTokens: Schema.optionalKey(Schema.Int),
  outputTokens: Schema.optionalKey(Schema.Int)
})

/**
 * One reply of the model: at least one of a text, a report, a tool call and a fault. Strings may hold `{{name}}`, where
 * the name is a capture or one of role, phase, cycle, session, turn, model, cwd and lastCommit (the newest 40-digit
 * hash in a tool result of this session).
 */
const StepFields = Schema.Struct({
  text: Schema.optionalKey(Schema.String),
  /**
   * Sent as a fenced JSON block after the text, or by the tool StructuredOutput if the client offers it. Where a prompt
   * asks for the report at the end of the work, the turn's last words are followed by those of the rule for `report`.
   */
  report: Schema.optionalKey(Schema.Json),
  bash: Schema.optionalKey(Schema.String),
  write: Schema.optionalKey(Schema.Struct({ path: Schema.String, content: Schema.String })),
  edit: Schema.optionalKey(Schema.Struct({ path: Schema.String, oldText: Schema.String, newText: Schema.String })),
  read: Schema.optionalKey(Schema.String),
  toolCalls: Schema.optionalKey(Schema.Array(ToolCall)),
  /** Values to capture from the results of this step's tool calls: group 1 of each expression, or the whole match. */
  capture: Schema.optionalKey(Schema.Record(Schema.String, Pattern)),
  delayMs: Schema.optionalKey(Schema.Finite),
  /** The length of a streamed piece of text, and the pause before each. */
  chunkChars: Schema.optionalKey(Schema.Int),
  chunkDelayMs: Schema.optionalKey(Schema.Finite),
  hold: Schema.optionalKey(Hold),
  fault: Schema.optionalKey(Fault),
  usage: Schema.optionalKey(UsageOverride),
  /** The reply ends because it reached the output limit (`length`, `max_tokens`). */
  cutOff: Schema.optionalKey(Schema.Boolean)
})

const answers = ["text", "report", "bash", "write", "edit", "read", "toolCalls", "fault"]
export const Step = StepFields.check(
  Schema.makeFilter(
    (step) =>
      Object.keys(step).some((key) => answers.includes(key)) || `a step needs at least one of ${answers.join(", ")}`
  )
)
export type Step = typeof Step.Type

/** A rule. `times` is the number of turns that it may answer (default: any number). */
export const Rule = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  match: Match.pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
  times: Schema.optionalKey(Schema.Int),
  /** Values to capture from the turn's user message when the rule is chosen. */
  captureUser: Schema.optionalKey(Schema.Record(Schema.String, Pattern)),
  reply: oneOrMore(Step)
})
export type Rule = typeof Rule.Type

/** A whole script. Group 1 of each pattern finds the role, phase or cycle in a prompt. */
export const Script = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  model: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("scripted"))),
  rolePattern: Pattern.pipe(Schema.withDecodingDefaultKey(Effect.succeed("\\b[Yy]ou are the (author|reviewer)\\b"))),
  phasePattern: Pattern.pipe(Schema.withDecodingDefaultKey(Effect.succeed("\\b[Pp]hase ([0-9]+(?:\\.[0-9]+)*)"))),
  cyclePattern: Pattern.pipe(Schema.withDecodingDefaultKey(Effect.succeed("\\b[Cc]ycle ([0-9]+)"))),
  rules: Schema.Array(Rule)
})
export type Script = typeof Script.Type
/** A script as an author writes it: fields with defaults may be left out. */
export type ScriptInput = typeof Script.Encoded
