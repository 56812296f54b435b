import { randomUUID } from "node:crypto"
import { Result, Schema } from "effect"
import type { Fault, Step, ToolCall } from "../script/Script.ts"
import { render, renderRecord, renderText, type Values } from "../script/template.ts"
import { countTokens, type ModelRequest, type OfferedTool } from "./ModelRequest.ts"

/** Tokens as the model reports them; `inputTokens` includes `cachedTokens`. */
export const Usage = Schema.Struct({
  inputTokens: Schema.Int,
  cachedTokens: Schema.Int,
  outputTokens: Schema.Int
})
export type Usage = typeof Usage.Type

/** The model's answer to one call: templates filled, and tools named as the client names them. */
export interface Reply {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly toolCalls: ReadonlyArray<NamedToolCall & { readonly id: string }>
  readonly usage: Usage
  /** The step of the script that this reply plays: it says delays, pieces and holds. */
  readonly step: Step
  /** The fault to inject into this call, if any. */
  readonly fault: Fault | undefined
}

/** Why a call gets no reply: no rule matches, or the matching rule cannot be played. */
export interface Refusal {
  readonly outcome: "unmatched" | "invalid"
  readonly message: string
}

/** A tool call with the names that the client uses for the tool and its arguments. */
interface NamedToolCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A tool call with the generic names that scripts use. */
interface GenericToolCall {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** Generic argument names, and the names that agent runtimes use for them. */
const aliases: Readonly<Record<string, ReadonlyArray<string>>> = {
  path: ["filePath", "file_path"],
  oldText: ["oldString", "old_string"],
  newText: ["newString", "new_string"],
  command: ["cmd"]
}

/** Generic tool names, and the names that agents give the tool where they do not use the generic one. */
const toolAliases: Readonly<Record<string, ReadonlyArray<string>>> = {
  bash: ["exec_command", "shell_command", "run_shell_command"]
}

/** The tool calls of a step: its short forms (`read`, `write`, `edit`, `bash`) first. */
const toolCallsOf = (step: Step): ReadonlyArray<ToolCall> => [
  ...(step.read === undefined ? [] : [{ tool: "read", args: { path: step.read } }]),
  ...(step.write === undefined ? [] : [{ tool: "write", args: { ...step.write } }]),
  ...(step.edit === undefined ? [] : [{ tool: "edit", args: { ...step.edit } }]),
  ...(step.bash === undefined ? [] : [{ tool: "bash", args: { command: step.bash } }]),
  ...(step.toolCalls ?? [])
]

/** Finds an offered tool by its generic name, ignoring case, else by what agents call it. */
const findTool = (request: ModelRequest, generic: string): OfferedTool | undefined => {
  const named = (name: string) => request.tools.find((tool) => tool.name.toLowerCase() === name.toLowerCase())
  return named(generic) ?? (toolAliases[generic] ?? []).map(named).find((tool) => tool !== undefined)
}

const argumentName = (tool: OfferedTool, generic: string): string =>
  tool.properties.includes(generic)
    ? generic
    : ((aliases[generic] ?? []).find((name) => tool.properties.includes(name)) ?? generic)

const isRelativePath = (name: string, value: unknown): value is string =>
  /^file_?path$/i.test(name) && typeof value === "string" && !value.startsWith("/")

/**
 * Translates a generic call into the names of the offered tool. Relative paths become absolute when the client's
 * working directory is known. A required `description` is filled in.
 */
const nameToolCall = (tool: OfferedTool, call: GenericToolCall, cwd: string | undefined): NamedToolCall => {
  const entries = Object.entries(call.args).map(([generic, value]) => {
    const name = argumentName(tool, generic)
    return [name, cwd !== undefined && isRelativePath(name, value) ? `${cwd}/${value}` : value] as const
  })
  const args = Object.fromEntries(entries)
  const wantsDescription = tool.required.includes("description") && args.description === undefined
  return { name: tool.name, args: wantsDescription ? { ...args, description: `Runs ${call.tool}` } : args }
}

const ids = {
  openai: { reply: "chatcmpl_", call: "call_" },
  responses: { reply: "resp_", call: "call_" },
  anthropic: { reply: "msg_", call: "toolu_" },
  google: { reply: "response_", call: "call_" }
}

const fenced = (report: unknown) => `\`\`\`json\n${JSON.stringify(report, null, 2)}\n\`\`\``

/** Fills the templates of a step; fails with the names that have no value. */
const fill = (step: Step, values: Values) =>
  Result.all({
    text: renderText(step.text ?? "", values),
    report: render(step.report, values),
    calls: Result.all(
      toolCallsOf(step).map(({ tool, args }) => Result.map(renderRecord(args, values), (args) => ({ tool, args })))
    )
  })

/**
 * Makes the reply to a call from a step of the script. The caller adds the fault.
 * @param counted the tokens of the prompt
 * @returns the reply, or the reason why the step cannot be played
 */
export const makeReply = (
  step: Step,
  request: ModelRequest,
  values: Values,
  counted: Usage
): Result.Result<Omit<Reply, "fault">, string> => {
  const filled = fill(step, values)
  if (Result.isFailure(filled)) return Result.fail(`no value for ${filled.failure.map((n) => `{{${n}}}`).join(", ")}`)
  const { text, report, calls } = filled.success
  const named: Array<NamedToolCall> = []
  for (const call of calls) {
    const tool = findTool(request, call.tool)
    if (tool === undefined) {
      const offered = request.tools.map(({ name }) => name).join(", ")
      return Result.fail(`tool ${call.tool} is not offered (${offered || "none"})`)
    }
    named.push(nameToolCall(tool, call, values.get("cwd")))
  }
  const structured = step.report === undefined ? undefined : findTool(request, "StructuredOutput")
  if (structured !== undefined) named.push({ name: structured.name, args: Object(report) })
  const inText = step.report === undefined || structured !== undefined ? [] : [fenced(report)]
  const said = [...(text === "" ? [] : [text]), ...inText].join("\n\n")
  const { reply: replyPrefix, call: callPrefix } = ids[request.protocol]
  const outputTokens = countTokens(said + named.map((call) => JSON.stringify(call)).join(""))
  return Result.succeed({
    id: `${replyPrefix}${randomUUID()}`,
    model: request.model,
    text: said,
    toolCalls: named.map((call) => ({ ...call, id: `${callPrefix}${randomUUID()}` })),
    usage: { ...counted, outputTokens, ...step.usage },
    step
  })
}
