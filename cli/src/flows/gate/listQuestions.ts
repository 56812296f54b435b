/** `reprise gate list` */
import { EscalationView } from "@reprise/protocol"
import { Effect, type Option } from "effect"
import { listOf, withReading } from "../../system/clientSystem.ts"
import { data, okJson, say, visible } from "../../terminal/Printer.ts"
import { since } from "../../views/questionText.ts"
import { table } from "../../views/table.ts"

export const openQuestions = Effect.gen(function* () {
  const all = yield* listOf("gate", EscalationView)
  return all.filter(({ state }) => state === "open").sort((a, b) => a.raisedAt.localeCompare(b.raisedAt))
})

export const listQuestions = (flags: { readonly json: boolean; readonly nats: Option.Option<string> }) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const questions = yield* openQuestions
      if (flags.json) return okJson(questions)
      if (questions.length === 0) return say("No open questions.")
      const rows = questions.map((q) => [
        q.escalationId,
        q.phase ?? "",
        q.step ?? "",
        q.origin,
        since(q.raisedAt, Date.now()),
        visible(q.reason).split("\n")[0]?.slice(0, 60) ?? "",
        q.options.map(({ keys, name }) => keys[0] ?? name).join(" ")
      ])
      data(table(["id", "phase", "step", "from", "since", "why", "choices"], rows))
    })
  )
