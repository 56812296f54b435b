/** What holds for questions: one at a time, each can be answered, each is answered once, and nothing said gets lost. */
import type { Check } from "./Check.ts"
import type { Histories } from "./histories.ts"

const openOf = (gate: Histories["gate"], runId: string) =>
  [...gate.values()].flatMap(({ state }) =>
    state.status === "open" && state.question.runId === runId ? [state.question] : []
  )

export const oneOpenQuestion: Check = ({ unrest, world }, { gate, orchestrator }) =>
  world.runs.flatMap(({ runId }) => {
    const state = orchestrator.get(runId)?.state
    if (state?._tag !== "Run" || unrest !== undefined) return []
    const open = openOf(gate, runId)
    const ids = open.map(({ escalationId }) => escalationId)
    if (state.pending._tag === "Answer" && state.status !== "paused") {
      const { escalationId } = state.pending.question.ask
      return ids.length === 1 && ids[0] === escalationId
        ? []
        : [`run ${runId} waits for ${escalationId}, and the gate has open: ${ids}`]
    }
    if (state.status === "paused") return []
    return ids.length === 0 ? [] : [`run ${runId} is ${state.status}, and the gate still asks ${ids}`]
  })

export const questionsCanBeAnswered: Check = ({ record }, { gate }) => [
  ...[...gate.values()].flatMap(({ key, steps }) =>
    steps.flatMap(({ events }) =>
      events.flatMap((event) =>
        event._tag === "Raised" && event.question.options.length === 0 ? [`question ${key} has no options`] : []
      )
    )
  ),
  ...record.flatMap(({ body, type }) => {
    if (type !== "CommandRefused") return []
    const { code, command, escalationId, reason } = JSON.parse(body)
    const isOffered = command === "AnswerEscalation" && (code === "no-options" || code === "guidance-required")
    return isOffered ? [`an answer to ${escalationId} was refused (${code}): ${reason}`] : []
  })
]

/** An answer reaches the run once, and it is the one that the gate took. */
export const eachQuestionHasOneAnswer: Check = ({ record }, { gate, orchestrator }) => {
  const published = new Map<string, number>()
  for (const { subject, type, body } of record) {
    if (type !== "EscalationAnswered" || !subject.includes(".event.")) continue
    const { escalationId } = JSON.parse(body)
    published.set(escalationId, (published.get(escalationId) ?? 0) + 1)
  }
  const twice = [...published].flatMap(([id, count]) =>
    count > 1 ? [`question ${id} was answered ${count} times`] : []
  )
  const acted = [...orchestrator].flatMap(([runId, { steps }]) =>
    steps.flatMap(({ events }) =>
      events.flatMap((event) => {
        if (event._tag !== "QuestionAnswered") return []
        const state = gate.get(event.escalationId)?.state
        if (event.escalationId.split("-")[0] !== runId) return [`run ${runId} acted upon ${event.escalationId}`]
        const taken = state?.status === "answered" ? state.answer.choice : undefined
        return taken === event.choice
          ? []
          : [`run ${runId} acted upon '${event.choice}' for ${event.escalationId}, the gate took '${taken}'`]
      })
    )
  )
  return [...twice, ...acted]
}

/** Words that humans said with answers that counted. */
export const wordsArrive: Check = ({ agents, human, unrest, world }, { gate, orchestrator }) =>
  human.words.flatMap(({ escalationId, text }) => {
    const question = gate.get(escalationId)?.state
    const runId = escalationId.split("-")[0] ?? ""
    const history = orchestrator.get(runId)
    if (history?.state._tag !== "Run" || world.runs.every((run) => run.runId !== runId)) return []
    const run = history.state
    const isTaken = question?.status === "answered" && question.answer.guidance === text
    const told = agents.seen.filter((prompt) => prompt.text.includes(text))
    if (!isTaken) return told.length === 0 ? [] : [`'${text}' was refused, and told to an agent`]
    // An agent hears the words at once, or a machine's step is tried again, after which no agent need follow.
    if (["permission", "question", "workspace"].includes(question.question.origin)) return []
    const entry = run.ledger.find((one) => one.text.includes(text))
    const answered = history.steps.flatMap(({ events }) =>
      events.filter((event) => event._tag === "QuestionAnswered" && event.escalationId === escalationId)
    )[0]
    if (entry === undefined) {
      const isLost = answered?._tag === "QuestionAnswered" && !["abort", "override", "pause"].includes(answered.choice)
      return isLost ? [`'${text}' was said with '${answered.choice}', and is not in the ledger of run ${runId}`] : []
    }
    const outside = told.filter(
      ({ phase, runId: of, text: prompt }) =>
        of !== runId ||
        (entry.decision === undefined && phase !== entry.phase && !prompt.includes("an earlier session"))
    )
    const perSession = new Map<string, number>()
    for (const prompt of told) {
      if (prompt.text.includes("An earlier session worked on this")) continue
      if (entry.decision !== undefined && prompt.phase !== entry.phase) continue
      perSession.set(prompt.runtimeSessionId, (perSession.get(prompt.runtimeSessionId) ?? 0) + 1)
    }
    const doubled = [...perSession].flatMap(([id, count]) =>
      count > 1 ? [`'${text}' was told ${count} times to session ${id}`] : []
    )
    const isPast = run.outcomes.some(({ by, id }) => id === entry.phase && by === "review")
    const isLost = unrest === undefined && isPast && told.every(({ phase }) => phase !== entry.phase)
    return [
      ...outside.slice(0, 1).map(({ phase }) => `'${text}' of phase ${entry.phase} was told in phase ${phase}`),
      ...doubled,
      ...(isLost ? [`phase ${entry.phase} of run ${runId} was approved, and nobody was told '${text}'`] : [])
    ]
  })
