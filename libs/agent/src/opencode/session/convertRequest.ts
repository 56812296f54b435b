/** Converts OpenCode's requests to the port's prompts. Pure. */
import type { PermissionRequest, QuestionInfo, QuestionRequest } from "@opencode-ai/sdk/v2/client"
import type { PendingPrompt, Question } from "../../RuntimeEvent.ts"
import type { RememberedRule } from "../../rules/PermissionRules.ts"
import { permissionOptions } from "../../rules/permissionOptions.ts"

const subjectOf = (request: PermissionRequest): string => {
  const { command, url } = request.metadata
  if (typeof command === "string") return command
  return typeof url === "string" ? url : request.patterns.join(", ")
}

const questionOf = (info: QuestionInfo): Question => ({
  question: info.question,
  options: info.options.map(({ description, label }) => ({
    name: label,
    label: description === "" ? label : `${label}: ${description}`
  })),
  multiple: info.multiple === true
})

interface At {
  readonly sessionId: string
  readonly causePromptId?: string
}

/** `rules`: what `always` writes. */
export const permissionPrompt = (
  request: PermissionRequest,
  at: At,
  rules: ReadonlyArray<RememberedRule>
): PendingPrompt => ({
  ...at,
  promptId: request.id,
  kind: "permission",
  text: `${request.permission}: ${subjectOf(request)}`,
  options: permissionOptions(rules),
  questions: []
})

export const questionPrompt = (request: QuestionRequest, at: At): PendingPrompt => {
  const questions = request.questions.map(questionOf)
  return {
    ...at,
    promptId: request.id,
    kind: "question",
    text: questions.map(({ question }) => question).join("\n"),
    options: questions[0]?.options ?? [],
    questions
  }
}
