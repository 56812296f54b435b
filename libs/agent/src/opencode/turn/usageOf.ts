/** What sessions have used. OpenCode counts the subagents of a session, and theirs, as sessions of their own. */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { addUsage, noTokens, noUsage, type Usage } from "@reprise/protocol"
import { Effect } from "effect"
import type { AgentError } from "../../AgentError.ts"
import type { Calls, Refused } from "../server/calls.ts"
import { answersIn, type Listed, type Period, startsSubagents, tokensOf } from "./turnOf.ts"

type Asked = Pick<Session, "id" | "directory">
type Reading = Pick<Calls, "reaching">

/** A session that is deleted meanwhile is refused: nothing breaks for it, and its part is left out. */
const orNothing = <A>(asking: Effect.Effect<ReadonlyArray<A>, Refused | AgentError>) =>
  Effect.catchTag(asking, "Refused", () => Effect.succeed<ReadonlyArray<A>>([]))

const subagentsOf = (calls: Reading, { directory, id: sessionID }: Asked) =>
  orNothing(
    calls.reaching("children", (client, signal) => client.session.children({ sessionID, directory }, { signal }))
  )

const messagesOf = (calls: Reading, { directory, id: sessionID }: Asked) =>
  orNothing(
    calls.reaching("messages", (client, signal) => client.session.messages({ sessionID, directory }, { signal }))
  )

/** How often a subagent has called the model. */
export type SubagentCalls = (subagent: Session) => Effect.Effect<number, AgentError>

/** Only the messages say it. They are read again when the subagent has used more. */
export const makeSubagentCalls = (calls: Reading): SubagentCalls => {
  const known = new Map<string, { readonly at: string; readonly count: number }>()
  return (subagent) => {
    const { cost, id, time, tokens } = subagent
    const at = JSON.stringify([tokens, cost, time.updated])
    const before = known.get(id)
    if (before?.at === at) return Effect.succeed(before.count)
    return Effect.map(messagesOf(calls, subagent), (messages) => {
      const count = answersIn(messages).length
      known.set(id, { at, count })
      return count
    })
  }
}

const totalOf = ({ cost = 0, tokens }: Session, calls: number): Usage => ({
  tokens: tokens === undefined ? noTokens : tokensOf(tokens),
  cost,
  calls
})

const subagentUsage = (calls: Reading, callsOf: SubagentCalls, session: Asked): Effect.Effect<Usage, AgentError> =>
  Effect.gen(function* () {
    let usage = noUsage
    for (const subagent of yield* subagentsOf(calls, session)) {
      usage = addUsage(usage, totalOf(subagent, yield* callsOf(subagent)))
      usage = addUsage(usage, yield* subagentUsage(calls, callsOf, subagent))
    }
    return usage
  })

/** Of the whole session. One call for each answer. */
export const usageOf = Effect.fnUntraced(function* (
  calls: Reading,
  callsOf: SubagentCalls,
  session: Session,
  messages: ReadonlyArray<Listed>
) {
  const own = totalOf(session, answersIn(messages).length)
  return startsSubagents(messages) ? addUsage(own, yield* subagentUsage(calls, callsOf, session)) : own
})

/** What the subagents that `isWanted`, and theirs, used in a period: one that is resumed has used more before. */
export const subagentUsageIn = (
  calls: Reading,
  session: Asked,
  period: Period,
  isWanted: (id: string) => boolean = () => true
): Effect.Effect<Usage, AgentError> =>
  Effect.gen(function* () {
    let usage = noUsage
    for (const subagent of yield* subagentsOf(calls, session)) {
      if (!isWanted(subagent.id)) continue
      for (const { info } of answersIn(yield* messagesOf(calls, subagent))) {
        const isInPeriod = info.time.created >= period.fromMs && info.time.created < period.untilMs
        if (isInPeriod) usage = addUsage(usage, { tokens: tokensOf(info.tokens), cost: info.cost, calls: 1 })
      }
      usage = addUsage(usage, yield* subagentUsageIn(calls, subagent, period))
    }
    return usage
  })
