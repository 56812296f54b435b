/** `reprise dead-letters list|show|replay|drop`: messages that could not be handled. */
import { Messenger, NotReplayable, type StoredDeadLetter } from "@reprise/actor"
import { Effect } from "effect"
import { type ClientFlags, withClient, withOperator } from "../../system/clientSystem.ts"
import { wrongUse } from "../../terminal/CliFailure.ts"
import { data, okJson, say } from "../../terminal/Printer.ts"
import { visible } from "../../terminal/visible.ts"
import { since } from "../../views/questionText.ts"
import { table } from "../../views/table.ts"

interface LetterFlags extends ClientFlags {
  readonly letter: number
}

/** The fields that `--json` prints; a letter that cannot be read has only its number and time. */
const publicLetter = ({ content, sequence, time }: StoredDeadLetter) => ({ letter: sequence, time, ...content })

const row = ({ content, sequence, time }: StoredDeadLetter) => [
  `${sequence}`,
  time === "" ? "" : since(time, Date.now()),
  content?.service ?? "",
  visible(content?.headers["ce-type"]?.replace(/^dev\.reprise\.(\w+)\.v1$/, "$1") ?? "unreadable"),
  visible(content?.headers["ce-subject"] ?? ""),
  visible(content?.reason ?? "")
    .split("\n")[0]
    ?.slice(0, 80) ?? ""
]

export const listDeadLetters = (flags: ClientFlags) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const letters = yield* (yield* Messenger).deadLetters()
      if (flags.json) return okJson(letters.map(publicLetter))
      if (letters.length === 0) return say("No dead letters.")
      data(table(["letter", "since", "service", "message", "run", "why"], letters.map(row)))
    })
  )

const findLetter = Effect.fnUntraced(function* (letter: number) {
  const [found] = yield* (yield* Messenger).deadLetters(letter - 1)
  if (found?.sequence === letter) return found
  return yield* wrongUse(
    "unknown-letter",
    `There is no dead letter ${letter}.`,
    "'reprise dead-letters list' lists them."
  )
})

const letterText = ({ content, sequence, time }: StoredDeadLetter): string => {
  if (content === undefined) return `Dead letter ${sequence} cannot be read.`
  const { body, deliveries, headers, reason, service, subject } = content
  const lines = [
    `Dead letter ${sequence}, since ${time}`,
    `${service} could not handle it after ${deliveries} deliveries: ${reason}`,
    `It was sent to ${subject}:`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    body
  ]
  return lines.join("\n")
}

export const showDeadLetter = (flags: LetterFlags) =>
  withClient(
    flags,
    Effect.gen(function* () {
      const found = yield* findLetter(flags.letter)
      if (flags.json) return okJson(publicLetter(found))
      data(visible(letterText(found)))
    })
  )

export const replayDeadLetter = (flags: LetterFlags) =>
  withOperator(
    flags,
    Effect.gen(function* () {
      const found = yield* findLetter(flags.letter)
      yield* (yield* Messenger).replayDeadLetter(found).pipe(
        Effect.catchIf(
          (error) => error instanceof NotReplayable,
          ({ reason }) =>
            wrongUse(
              "not-replayable",
              `Dead letter ${flags.letter} cannot be sent again: ${reason}`,
              `'reprise dead-letters drop ${flags.letter}' removes it.`
            )
        )
      )
      if (flags.json) return okJson({ letter: flags.letter, state: "sent" })
      say(`Sent the message of dead letter ${flags.letter} again. If it fails again, it becomes a new dead letter.`)
    }),
    true
  )

export const dropDeadLetter = (flags: LetterFlags) =>
  withOperator(
    flags,
    Effect.gen(function* () {
      const { sequence } = yield* findLetter(flags.letter)
      yield* (yield* Messenger).dropDeadLetter(sequence)
      if (flags.json) return okJson({ letter: sequence, state: "dropped" })
      say(`Dropped dead letter ${sequence}.`)
    })
  )
