import { randomUUID } from "node:crypto"
import { Result } from "effect"
import type { ModelRequest } from "./ModelRequest.ts"
import { countTokens } from "./promptText.ts"
import type { Reply, Usage } from "./Reply.ts"
import type { Step } from "./Script.ts"
import { render, renderRecord, renderText, type Values } from "./template.ts"
import { findTool, type NamedToolCall, nameToolCall, toolCallsOf } from "./toolCalls.ts"

const ids = { openai: { reply: "chatcmpl_", call: "call_" }, anthropic: { reply: "msg_", call: "toolu_" } }

const fenced = (report: unknown) => `\`\`\`json\n${JSON.stringify(report, null, 2)}\n\`\`\``

/** What the step says, templates filled; a failure is the names without a value. */
const fill = (step: Step, values: Values) =>
  Result.all({
    text: renderText(step.text ?? "", values),
    report: render(step.report, values),
    calls: Result.all(
      toolCallsOf(step).map(({ tool, args }) => Result.map(renderRecord(args, values), (args) => ({ tool, args })))
    )
  })

/**
 * Makes of a step what is to be sent for a call, its fault aside.
 * @param counted the tokens of the prompt
 * @returns or why the step cannot be played, as a clause
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
