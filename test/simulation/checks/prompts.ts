/** What holds for turns: each is prompted once, and no agent is asked two things at a time. */
import { byHand } from "../parts/agents.ts"
import type { Check } from "./Check.ts"
import { hasEnded } from "./histories.ts"

export const eachTurnIsPromptedOnce: Check = (_, histories) =>
  [...histories["session-manager"].values()].flatMap(({ key, steps }) => {
    const sent = new Map<string, number>()
    const numbers = new Set<string>()
    const wrong: Array<string> = []
    for (const { events } of steps) {
      for (const event of events) {
        if (event._tag === "TurnRequested" || event._tag === "SessionLost") {
          sent.set(event._tag === "TurnRequested" ? event.turn.turnId : event.turnId, 0)
        }
        if (event._tag !== "PromptPrepared") continue
        const { kind, number, turnId } = event
        if (numbers.has(`${turnId} ${number}`))
          wrong.push(`prompt ${number} of turn ${turnId} in ${key} was prepared twice`)
        numbers.add(`${turnId} ${number}`)
        if (kind !== "work") continue
        const count = (sent.get(turnId) ?? 0) + 1
        sent.set(turnId, count)
        if (count > 1) wrong.push(`turn ${turnId} in session ${key} was prompted ${count} times`)
      }
    }
    return wrong
  })

/** Every prompt that reached an agent was decided, or typed by a human. */
export const promptsAreDecided: Check = ({ human, runtime }, histories) => {
  const decided = new Set(
    [...histories["session-manager"].values()].flatMap(({ steps }) =>
      steps.flatMap(({ events }) =>
        events.flatMap((event) => (event._tag === "PromptPrepared" ? [event.identity.messageId] : []))
      )
    )
  )
  return [...runtime.promptIds].flatMap(([session, ids]) =>
    [...ids].flatMap((id) =>
      decided.has(id) || human.prompts.has(id) ? [] : [`session ${session} got prompt ${id}, which nobody decided`]
    )
  )
}

/** What a human did in the session of a waiting step is noticed: somebody asks the agent for its report, or says so. */
export const humansAreNoticed: Check = (story, histories) => {
  if (story.unrest !== undefined) return []
  const views = [...histories["session-manager"].values()]
  return story.agents.seen.flatMap(({ runtimeSessionId, text }) => {
    if (!text.startsWith(byHand)) return []
    const history = views.find(({ state }) => state.runtimeSessionId === runtimeSessionId)
    if (history === undefined || hasEnded(history.state.status)) return []
    const seen = story.inspect((runtime) => runtime.inspect(runtimeSessionId))
    const newest = seen.lastMessage?.causePromptId ?? seen.lastMessage?.id ?? ""
    if (!story.human.prompts.has(newest) || seen.state._tag !== "idle") return []
    const isKnown = history.state.knownPromptIds.includes(newest)
    return isKnown ? [] : [`a human worked in session ${history.key}, and nobody noticed`]
  })
}
