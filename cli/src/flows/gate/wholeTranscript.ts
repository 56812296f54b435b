/** The whole conversation of the agent that asks, for the full screen. Reprise's titles begin a line; all other text is indented. */

import type { EscalationView, SessionView } from "@reprise/protocol"
import { readTranscript } from "@reprise/session-manager/readTranscript"
import { Effect } from "effect"
import { awaitsSaving, findSession } from "../../system/lookUp/lookUp.ts"
import { VisitedRepository } from "../../system/SystemOptions.ts"
import { conversationText, indented } from "../../views/conversationText.ts"

/** While an agent works, its runtime knows more than what was saved. It is asked where it runs already. */
const fromRuntime = Effect.fnUntraced(function* (session: SessionView) {
  const options = yield* yield* VisitedRepository
  if (options === undefined) return undefined
  // Whoever reads no conversation does not wait for the agents' libraries.
  const [{ isServed }, { conversation }] = yield* Effect.promise(() =>
    Promise.all([import("../../system/agents/sessionRuntime.ts"), import("../../system/agents/conversation.ts")])
  )
  return (yield* isServed(session.runtime, options)) ? yield* conversation(session, options) : undefined
})

const said = Effect.fnUntraced(function* (sessionId: string) {
  const session = yield* findSession(sessionId)
  const { transcript, turnId } = session
  const isWhole = transcript !== undefined && turnId === undefined && !awaitsSaving(session)
  const read = isWhole ? undefined : yield* Effect.orElseSucceed(fromRuntime(session), () => undefined)
  return read ?? (transcript === undefined ? undefined : yield* readTranscript(transcript))
})

const section = (title: string, words: string): string => `${title}\n${indented(words)}`

const unsaved = (sessionId: string): string =>
  `What was said before has not been saved yet: 'reprise sessions show ${sessionId}' asks the agent's runtime.`

/** With the words that came with the question where they are not in it yet. */
export const wholeTranscript = Effect.fn("wholeTranscript")(function* ({
  evidence,
  sessionId: asking
}: EscalationView) {
  const { lastLines = "", sessionId: shown } = evidence
  const sessionId = asking ?? shown
  const words = lastLines.trim() === "" ? [] : [section("The agent's last lines", lastLines)]
  if (sessionId === undefined) return words[0] ?? "No words of the agent came with this question."
  const read = yield* Effect.orElseSucceed(said(sessionId), () => undefined)
  const whole = read === undefined || read.messages.length === 0 ? undefined : conversationText(read)
  if (whole === undefined) return [...words, unsaved(sessionId)].join("\n")
  return [whole, ...(whole.includes(indented(lastLines)) ? [] : words)].join("\n")
})
