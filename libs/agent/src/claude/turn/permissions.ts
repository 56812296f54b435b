/** What a session's permission mode allows, and the questions for a human about everything else. */
import type { PermissionMode } from "@reprise/protocol"
import { Schema } from "effect"
import { isInside } from "../../isInside.ts"
import type { PendingPrompt, PromptOption, Question } from "../../RuntimeEvent.ts"

type Input = Readonly<Record<string, unknown>>

/**
 * Tools that the agent does not get: they would outlive the turn or leave its directory, and a plan that waits for
 * approval would be a question that no human sees.
 */
export const withheldTools = [
  "CronCreate",
  "CronDelete",
  "CronList",
  "EnterPlanMode",
  "EnterWorktree",
  "ExitPlanMode",
  "ExitWorktree",
  "ListAgents",
  "Monitor",
  "ScheduleWakeup",
  "SendMessage",
  "Workflow"
]

/**
 * A repository's settings can contain hooks, servers and rules that grant permissions, so they are only read in mode
 * `all`, and if they are trusted. The user's own settings are always read.
 */
export const readsProject = (mode: PermissionMode, trusted: boolean): boolean => mode === "all" && trusted

export const settingSourcesOf = (mode: PermissionMode, trusted: boolean): Array<"user" | "project" | "local"> =>
  readsProject(mode, trusted) ? ["user", "project", "local"] : ["user"]

/** Without this rule Claude runs shell commands that it considers harmless without asking. */
export const settingsOf = (mode: PermissionMode) => (mode === "all" ? {} : { permissions: { ask: ["Bash"] } })

const editedFile = (tool: string, input: Input): string | undefined => {
  if (!["Edit", "MultiEdit", "NotebookEdit", "Write"].includes(tool)) return undefined
  const path = tool === "NotebookEdit" ? input["notebook_path"] : input["file_path"]
  return typeof path === "string" ? path : undefined
}

/** What an `always` covers: for a shell the exact command, else the tool. */
export const requestKey = (tool: string, input: Input): string =>
  tool === "Bash" ? `Bash: ${String(input["command"])}` : tool

/** Whether the mode, the sandbox, or an earlier `always` allows the request. `allowed` holds keys of `requestKey`. */
export const isApproved = async (
  tool: string,
  input: Input,
  session: {
    readonly permissions: PermissionMode
    readonly directory: string
    readonly allowed: ReadonlyArray<string>
  },
  sandboxed: boolean
): Promise<boolean> => {
  if (session.permissions === "all" || session.allowed.includes(requestKey(tool, input))) return true
  if (sandboxed && tool === "Bash") return true
  const file = editedFile(tool, input)
  return (
    (sandboxed || session.permissions === "workspace") &&
    file !== undefined &&
    (await isInside(session.directory, file))
  )
}

interface At {
  readonly sessionId: string
  readonly causePromptId: string
}

const subjectOf = (input: Input): string => {
  const named = ["command", "file_path", "notebook_path", "url", "query", "path"].map((name) => input[name])
  const text = named.find((value) => typeof value === "string") ?? JSON.stringify(input)
  return text.slice(0, 2000)
}

export const permissionPrompt = (promptId: string, tool: string, input: Input, at: At): PendingPrompt => ({
  ...at,
  promptId,
  kind: "permission",
  text: `${tool}: ${subjectOf(input)}`,
  options: [
    { name: "once", label: "Allow once" },
    { name: "always", label: `Allow always: ${requestKey(tool, input).slice(0, 200)}` },
    { name: "reject", label: "Reject" }
  ],
  questions: []
})

const Questions = Schema.Struct({
  questions: Schema.Array(
    Schema.Struct({
      question: Schema.String,
      multiSelect: Schema.optional(Schema.Boolean),
      options: Schema.Array(Schema.Struct({ label: Schema.String, description: Schema.optional(Schema.String) }))
    })
  )
})
const isQuestions = Schema.is(Questions)

export const questionsOf = (input: Input): ReadonlyArray<Question> =>
  isQuestions(input)
    ? input.questions.map(({ multiSelect, options, question }) => ({
        question,
        multiple: multiSelect === true,
        options: options.map(
          ({ description = "", label }): PromptOption => ({
            name: label,
            label: description === "" ? label : `${label}: ${description}`
          })
        )
      }))
    : []

export const questionPrompt = (promptId: string, questions: ReadonlyArray<Question>, at: At): PendingPrompt => ({
  ...at,
  promptId,
  kind: "question",
  text: questions.map(({ question }) => question).join("\n"),
  options: questions[0]?.options ?? [],
  questions
})

/** The input with the chosen labels, in the form in which Claude's own interface returns them. */
export const answeredInput = (
  input: Input,
  answers: ReadonlyArray<ReadonlyArray<string>>
): Record<string, unknown> => ({
  ...input,
  answers: Object.fromEntries(
    questionsOf(input).map(({ question }, index) => [question, (answers[index] ?? []).join(", ")])
  )
})

/** Claude refuses to run as root with all permissions; this check refuses it before a session is made. */
export const isUnsafeRoot = (
  mode: PermissionMode,
  environment: Readonly<Record<string, string | undefined>>
): boolean => mode === "all" && process.getuid?.() === 0 && environment["IS_SANDBOX"] !== "1"
