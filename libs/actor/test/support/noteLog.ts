/** What a process writes to its log. */
import { Logger } from "effect"

/** Notes the messages of the log in `lines`. */
export const noteLog = (lines: Array<string>) =>
  Logger.layer([
    Logger.make(({ message }) => {
      lines.push([message].flat().map(String).join(" "))
    })
  ])
