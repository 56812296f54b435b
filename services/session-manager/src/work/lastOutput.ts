/** What an agent wrote last, for a human: without its reports, and no more than fits a screen. */

import type { AgentRuntimeShape, Message, PendingPrompt } from "@reprise/agent"
import type { RuntimeId } from "@reprise/protocol"
import { Effect, Schedule } from "effect"
import { withoutBlock } from "../turn/decodeReport.ts"
import { textOf } from "./conversation.ts"
import { optionsOf } from "./report.ts"

const lastLinesKept = 20
const lastCharsKept = 2000

export interface LastOutput {
  readonly lastLines?: string
}

export const lastLinesOf = (text: string): LastOutput => {
  const lines = text.trimEnd().split("\n").slice(-lastLinesKept).join("\n").slice(-lastCharsKept).trim()
  return lines === "" ? {} : { lastLines: lines }
}

/** Words whose text is not stored yet: OpenCode may ask for a tool before it has stored what its model wrote before the call. */
const isBeingWritten = (messages: ReadonlyArray<Message>): boolean =>
  messages
    .findLast(({ role }) => role === "assistant")
    ?.content.some((block) => block.type === "text" && block.text === "") === true

const untilWritten = { schedule: Schedule.spaced("50 millis"), times: 6 } as const

/** The newest words of the conversation. Where it cannot be read, none. */
export const lastOutputOf = (
  runtime: Pick<AgentRuntimeShape, "history">,
  runtimeSessionId: RuntimeId
): Effect.Effect<LastOutput> =>
  runtime.history(runtimeSessionId).pipe(
    Effect.repeat({ ...untilWritten, while: isBeingWritten }),
    Effect.map((messages) =>
      messages
        .filter(({ role }) => role === "assistant")
        .map(textOf)
        .map(withoutBlock)
    ),
    Effect.map((texts) => lastLinesOf(texts.findLast((one) => one.trim() !== "") ?? "")),
    Effect.orElseSucceed(() => ({}))
  )

const patience = "5 seconds"

/** What an agent asks, with what it wrote before it asked. A conversation that is slow to read does not hold it up. */
export const agentQuestion = (runtime: AgentRuntimeShape, asked: PendingPrompt) =>
  lastOutputOf(runtime, asked.sessionId).pipe(
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed<LastOutput>({}) }),
    Effect.map((said) => {
      const { kind, promptId, text } = asked
      return { _tag: "RecordAgentQuestion", promptId, kind, text, options: optionsOf(asked), ...said } as const
    })
  )
