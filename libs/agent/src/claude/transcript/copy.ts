/** What of a transcript a fork has. Pure. */
import { Option } from "effect"
import { entryOf, readLine } from "./transcript.ts"

/**
 * The transcript up to the end of the turn that these prompts belong to: to the last line of its conversation and its cost,
 * without what Claude writes ahead of the next prompt. Undefined: it has none of the prompts.
 */
export const textThrough = (transcript: string, uuids: ReadonlySet<string>): string | undefined => {
  let [isFound, offset, end] = [false, 0, 0]
  for (const text of transcript.split("\n")) {
    offset += text.length + 1
    const entry = Option.getOrUndefined(Option.flatMap(readLine(text), entryOf))
    if (entry === undefined) continue
    if (entry.kind === "prompt") {
      if (isFound && !uuids.has(entry.uuid)) break
      isFound ||= uuids.has(entry.uuid)
    }
    end = offset
  }
  return isFound ? transcript.slice(0, end) : undefined
}

/** The longest name that Claude uses as it is. */
const longestName = 200

/** The folder of a directory's transcripts, as Claude names it (measured); undefined: Claude shortens it in its own way. */
export const projectFolder = (directory: string): string | undefined => {
  const name = directory.replaceAll(/[^a-zA-Z0-9]/g, "-")
  return name.length <= longestName ? name : undefined
}
