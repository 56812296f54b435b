/** `reprise gate show ID` */
import type { Option } from "effect"
import { Effect } from "effect"
import { data, okJson } from "../Printer.ts"
import { questionText } from "../show/question.ts"
import { withReading } from "../system/reading.ts"
import { findQuestion } from "./findQuestion.ts"

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
