/** What sessions have used. OpenCode counts the subagents of a session, and theirs, as sessions of their own. */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { addUsage, noTokens, noUsage, type Usage } from "@reprise/protocol"
import { Effect } from "effect"
import type { AgentError } from "../../AgentError.ts"
import type { Calls, Refused } from "../server/calls.ts"
import { type Listed, startsSubagents, tokensOf } from "./turnOf.ts"

const ownUsage = ({ cost = 0, tokens }: Session): Usage => ({
  tokens: tokens === undefined ? noTokens : tokensOf(tokens),
  cost,
  calls: 0
})

/** Of the subagents that `session` started itself, those that `isWanted`, with their own subagents. */
export const subagentUsage = (
  calls: Calls,
  session: Pick<Session, "id" | "directory">,
  isWanted: (id: string) => boolean = () => true
): Effect.Effect<Usage, Refused | AgentError> =>
  Effect.gen(function* () {
    const { directory, id: sessionID } = session
    const children = yield* calls.reaching("children", (client, signal) =>
      client.session.children({ sessionID, directory }, { signal })
    )
    let usage = noUsage
    for (const child of children) {
      if (!isWanted(child.id)) continue
      usage = addUsage(usage, addUsage(ownUsage(child), yield* subagentUsage(calls, child)))
    }
    return usage
  })

/** Of the whole session. The calls are those of the session itself: one for each answer. */
export const usageOf = Effect.fnUntraced(function* (calls: Calls, session: Session, messages: ReadonlyArray<Listed>) {
  const answers = messages.filter(({ info }) => info.role === "assistant")
  const own = { ...ownUsage(session), calls: answers.length }
  return startsSubagents(messages) ? addUsage(own, yield* subagentUsage(calls, session)) : own
})
