/** Which questions are open, from a list that may lag behind and from questions that were looked up since. Pure. */
import type { EscalationView } from "@reprise/protocol"

type Question = Pick<EscalationView, "escalationId" | "raisedAt" | "state">

/** Newest first. A question that was looked up counts in place of the list's; one that was closed never opens again. */
export const openQuestions = <Q extends Question>(
  listed: ReadonlyArray<Q>,
  lookedUp: ReadonlyMap<string, Q>
): ReadonlyArray<Q> => {
  const byId = new Map(listed.map((question) => [question.escalationId as string, question]))
  for (const [id, question] of lookedUp) byId.set(id, question)
  return [...byId.values()]
    .filter(({ state }) => state === "open")
    .toSorted((a, b) => b.raisedAt.localeCompare(a.raisedAt) || a.escalationId.localeCompare(b.escalationId))
}

export type Order = "newest" | "oldest" | "run"

export const ordered = <Q extends Question & { readonly runId: string }>(
  questions: ReadonlyArray<Q>,
  order: Order
): ReadonlyArray<Q> => {
  switch (order) {
    case "newest":
      return questions.toSorted((a, b) => b.raisedAt.localeCompare(a.raisedAt))
    case "oldest":
      return questions.toSorted((a, b) => a.raisedAt.localeCompare(b.raisedAt))
    case "run":
      return questions.toSorted((a, b) => a.runId.localeCompare(b.runId) || a.raisedAt.localeCompare(b.raisedAt))
  }
}

/** The questions of each run together, in the order in which the runs come. No group is empty. */
export const byRun = <Q extends { readonly runId: string }>(
  questions: ReadonlyArray<Q>
): ReadonlyArray<readonly [Q, ...ReadonlyArray<Q>]> => {
  const groups = new Map<string, [Q, ...Array<Q>]>()
  for (const question of questions) {
    const group = groups.get(question.runId)
    if (group === undefined) groups.set(question.runId, [question])
    else group.push(question)
  }
  return [...groups.values()]
}

/** The question after this one, to go on with when it is answered; undefined: it was the only one. */
export const nextAfter = <Q extends Question>(questions: ReadonlyArray<Q>, id: string): Q | undefined => {
  const place = questions.findIndex(({ escalationId }) => escalationId === id)
  const others = questions.filter(({ escalationId }) => escalationId !== id)
  return others[Math.max(0, place)] ?? others.at(-1)
}
