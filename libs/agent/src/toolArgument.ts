/** What a tool works on, as one short text for a display: a path, a command, a pattern. Pure. */

/** The fields that say it, in tools of OpenCode and Claude; the first that is there counts. */
const telling = ["command", "filePath", "file_path", "notebook_path", "pattern", "path", "url", "query", "description"]

const longest = 200

const isRecord = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === "object" && input !== null

/** One line. Undefined: the input says nothing short. */
export const toolArgument = (input: unknown): string | undefined => {
  if (!isRecord(input)) return undefined
  const field = telling.map((name) => input[name]).find((value) => typeof value === "string" && value.trim() !== "")
  if (typeof field !== "string") return undefined
  const line = field.trim().replace(/\s+/g, " ")
  return line.length <= longest ? line : `${line.slice(0, longest - 1)}…`
}
