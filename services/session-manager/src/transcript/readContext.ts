/** The saved conversation of a lost session as context for the one that takes its place. */
import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Broker } from "@reprise/actor"
import { Effect, Result } from "effect"
import { asksForReport } from "../domain/prompts.ts"
import { contextText, filesOf, stillValid, withoutReports } from "./reconstruct.ts"
import { readSessionFile } from "./SessionFile.ts"

/** When a file was changed last, in epoch milliseconds; of one that is gone: never will it be as it was. */
const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY
  )

/** undefined: nothing was saved, or nothing of it can be used. A session can be replaced without. */
export const readContext = Effect.fn("readContext")(function* (object: string, directory: string) {
  const { transcripts } = yield* Broker
  const text = yield* transcripts
    .get(object)
    .pipe(
      Effect.catch((error) =>
        Effect.logWarning(`a saved conversation cannot be read: ${error.message}`).pipe(Effect.as(undefined))
      )
    )
  if (text === undefined) return undefined
  const file = readSessionFile(text)
  if (Result.isFailure(file)) {
    yield* Effect.logWarning(`${object} is no saved conversation: ${file.failure.message}`)
    return undefined
  }
  const { savedAt } = file.success
  const messages = withoutReports(file.success.messages, asksForReport)
  const times = new Map(
    yield* Effect.forEach(
      filesOf(messages),
      (path) => Effect.promise(async () => [path, await changedAt(resolve(directory, path))] as const),
      { concurrency: 16 }
    )
  )
  const kept = stillValid(messages, savedAt, (path, time) => (times.get(path) ?? Infinity) > Date.parse(time))
  return kept.length === 0 ? undefined : contextText(kept)
})
