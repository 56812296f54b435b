/** What an agent wrote last, for a human: without its reports, and no more than fits a screen. */
import type { AgentRuntimeShape, PendingPrompt } from "@reprise/agent"
import { Effect } from "effect"
import { withoutBlock } from "../turn/decodeReport.ts"
import { textOf } from "./conversation.ts"
import { optionsOf } from "./report.ts"

const lastLinesKept = 20
const lastCharsKept = 2000

export interface LastWords {
  readonly lastLines?: string
}

export const lastLinesOf = (text: string): LastWords => {
  const lines = text.trimEnd().split("\n").slice(-lastLinesKept).join("\n").slice(-lastCharsKept).trim()
  return lines === "" ? {} : { lastLines: lines }
}

/** The newest words of the conversation. Where it cannot be read, none. */
export const saidLast = (runtime: AgentRuntimeShape, runtimeSessionId: string): Effect.Effect<LastWords> =>
  runtime.history(runtimeSessionId).pipe(
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
  saidLast(runtime, asked.sessionId).pipe(
    Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed<LastWords>({}) }),
    Effect.map((said) => {
      const { kind, promptId, text } = asked
      return { _tag: "RecordAgentQuestion", promptId, kind, text, options: optionsOf(asked), ...said } as const
    })
  )
