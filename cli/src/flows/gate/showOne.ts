/** `reprise gate show ID` */
import type { Option } from "effect"
import { Effect } from "effect"
import { withReading } from "../../system/clientSystem.ts"
import { findQuestion } from "../../system/findQuestion.ts"
import { data, okJson } from "../../terminal/Printer.ts"
import { questionText } from "../../views/questionText.ts"

export const showOne = (flags: { readonly id: string; readonly json: boolean; readonly nats: Option.Option<string> }) =>
  withReading(
    flags,
    Effect.gen(function* () {
      const question = yield* findQuestion(flags.id)
      if (flags.json) return okJson(question)
      data(questionText(question, Date.now()))
      if (question.state !== "open")
        data(`\n${question.state}: ${question.choice ?? question.withdrawnFor ?? ""} ${question.by ?? ""}`)
    })
  )
