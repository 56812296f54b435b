/** What a human has written with a choice: who is to take over, in flags at its beginning, and words for the agent. Pure. */
import { readAgent, readFlags, type UsableNames } from "@reprise/gate/typedAnswer"
import type { EscalationOption } from "@reprise/protocol"

type Written =
  | { readonly _tag: "Written"; readonly agent: UsableNames; readonly words: string }
  /** `message` has the next step. */
  | { readonly _tag: "Wrong"; readonly message: string }

/** As at the prompt without a screen: `--runtime claude --model opus: words`. Only where the choice takes an agent. */
export const readAnswerText = (option: EscalationOption, text: string): Written => {
  if (option.agent !== true) return { _tag: "Written", agent: {}, words: text }
  const { named, rest } = readFlags(` ${text.trimStart()}`)
  const agent = readAgent(option, named)
  return agent._tag === "Failure"
    ? { _tag: "Wrong", message: agent.failure }
    : { _tag: "Written", agent: agent.success, words: rest.replace(/^\s*:/, "").trim() }
}
