import type { ModelRequest, OfferedTool } from "./ModelRequest.ts"
import type { Step, ToolCall } from "./Script.ts"

/** A tool call by the name and the argument names under which the client offers the tool. */
export interface NamedToolCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A tool call in a script's words. */
interface GenericToolCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** Generic argument names to what runtimes call them. */
const aliases: Readonly<Record<string, ReadonlyArray<string>>> = {
  path: ["filePath", "file_path"],
  oldText: ["oldString", "old_string"],
  newText: ["newString", "new_string"]
}

/** The tool calls of a step, its short forms first. */
export const toolCallsOf = (step: Step): ReadonlyArray<ToolCall> => [
  ...(step.read === undefined ? [] : [{ tool: "read", args: { path: step.read } }]),
  ...(step.write === undefined ? [] : [{ tool: "write", args: { ...step.write } }]),
  ...(step.edit === undefined ? [] : [{ tool: "edit", args: { ...step.edit } }]),
  ...(step.bash === undefined ? [] : [{ tool: "bash", args: { command: step.bash } }]),
  ...(step.toolCalls ?? [])
]

/** The offered tool that a generic name means, whatever its case. */
export const findTool = (request: ModelRequest, generic: string): OfferedTool | undefined =>
  request.tools.find((tool) => tool.name.toLowerCase() === generic.toLowerCase())

const argumentName = (tool: OfferedTool, generic: string): string =>
  tool.properties.includes(generic)
    ? generic
    : ((aliases[generic] ?? []).find((name) => tool.properties.includes(name)) ?? generic)

const isRelativePath = (name: string, value: unknown): value is string =>
  /^file_?path$/i.test(name) && typeof value === "string" && !value.startsWith("/")

/**
 * Puts a generic call into the names of the tool that is offered. Paths become absolute in the client's working
 * directory when that is known, and a description that a tool insists on is made up.
 */
export const nameToolCall = (tool: OfferedTool, call: GenericToolCall, cwd: string | undefined): NamedToolCall => {
  const entries = Object.entries(call.args).map(([generic, value]) => {
    const name = argumentName(tool, generic)
    return [name, cwd !== undefined && isRelativePath(name, value) ? `${cwd}/${value}` : value] as const
  })
  const args = Object.fromEntries(entries)
  const wantsDescription = tool.required.includes("description") && args.description === undefined
  return { name: tool.name, args: wantsDescription ? { ...args, description: `Runs ${call.tool}` } : args }
}
