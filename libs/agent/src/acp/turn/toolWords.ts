/**
 * What a tool said of files that it may not write, as an agent tells it: nobody stands between an agent in the sandbox and its
 * commands (docs/design/workspace.md#sandbox). Pure.
 */
import type { SessionUpdate } from "@agentclientprotocol/sdk"
import type { ToolWords } from "@reprise/sandbox"

const isAboutWriting = (text: string): boolean => /read-only file system|\bEROFS\b/i.test(text)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** All texts in what an agent passes on of its tool, which has no form that the protocol knows. */
const textsIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : []
}

const exitCodeOf = (value: unknown): number | undefined => {
  if (!isRecord(value)) return undefined
  const code = value["exit_code"] ?? value["exitCode"] ?? value["exit"]
  return typeof code === "number" ? code : exitCodeOf(value["metadata"])
}

/** Undefined: it says nothing of the kind, or goes on. Some agents say of a command that failed that it is completed. */
export const toolWords = (update: SessionUpdate): ToolWords | undefined => {
  if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") return undefined
  const { content, rawOutput, status } = update
  if (status !== "completed" && status !== "failed") return undefined
  const said = (content ?? []).flatMap((part) =>
    part.type === "content" && part.content.type === "text" ? [part.content.text] : []
  )
  const text = [...new Set([...said, ...textsIn(rawOutput)])].join("\n")
  if (!isAboutWriting(text)) return undefined
  const failed =
    status === "failed" || (exitCodeOf(rawOutput) ?? 0) !== 0 || /\bexit(?:ed with)?(?: code)?:? [1-9]/i.test(text)
  return { text, failed }
}
