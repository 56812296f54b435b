/** What a process writes to its log. */
import { Logger, References } from "effect"

/** Notes the messages of the log in `lines`. */
export const noteLog = (lines: Array<string>) =>
  Logger.layer([
    Logger.make(({ message }) => {
      lines.push([message].flat().map(String).join(" "))
    })
  ])

/** Notes with what each line of the log is annotated. */
export const noteAnnotations = (lines: Array<Readonly<Record<string, unknown>>>) =>
  Logger.layer([Logger.make(({ fiber }) => void lines.push(fiber.getRef(References.CurrentLogAnnotations)))])
