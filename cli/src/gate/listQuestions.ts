/** `reprise gate list` */
import { EscalationView } from "@reprise/protocol"
import { Effect, type Option } from "effect"
import { data, okJson, say, visible } from "../Printer.ts"
import { since } from "../show/question.ts"
import { table } from "../show/table.ts"
import { listOf, withReading } from "../system/reading.ts"

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
