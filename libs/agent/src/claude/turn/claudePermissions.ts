/** What a session's permission mode allows, and the questions for a human about everything else. */
import { isAbsolute } from "node:path"
import type { PermissionMode } from "@reprise/protocol"
import { Schema } from "effect"
import { isInside, isReadable, nothingProtected, type ProtectedPaths, placeOf } from "../../isInside.ts"
import type { PendingPrompt, PromptOption, Question } from "../../RuntimeEvent.ts"
import type { HeldBack, RememberedRule, ToolRequest } from "../../rules/PermissionRules.ts"
import { permissionOptions } from "../../rules/permissionOptions.ts"

type Input = Readonly<Record<string, unknown>>

/**
 * Tools that the agent does not get: they would outlive the turn or leave its directory, and a plan that waits for
 * approval would be a question that no human sees.
 */
const withheldTools = [
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

/** `Grep` searches a whole folder, so it would find what a rule holds back in it. */
export const withheldFrom = (held: HeldBack): Array<string> => [...withheldTools, ...(held.files ? ["Grep"] : [])]

/**
 * A repository's settings can contain hooks, servers and rules that grant permissions, so they are only read in mode
 * `all`, and if they are trusted. The user's own settings are always read.
 */
export const readsProject = (mode: PermissionMode, trusted: boolean): boolean => mode === "all" && trusted

export const settingSourcesOf = (mode: PermissionMode, trusted: boolean): Array<"user" | "project" | "local"> =>
  readsProject(mode, trusted) ? ["user", "project", "local"] : ["user"]

/**
 * What Claude must ask about, so that the rules and the mode decide: it would run commands that it considers harmless, and
 * read files of its directory, without asking. Reprise's state holds passwords; Claude resolves links itself before it
 * applies a rule. `stateDirectory`: absolute; in a worktree it lies in another folder than the session's.
 */
export const settingsOf = (mode: PermissionMode, held: HeldBack, stateDirectory: string) => {
  const ask = [
    ...(mode !== "all" || held.commands ? ["Bash"] : []),
    ...(held.files ? ["Read", "Edit"] : []),
    ...(held.addresses ? ["WebFetch"] : [])
  ]
  const deny = mode === "all" ? [] : ["Read(./.reprise/**)", `Read(/${stateDirectory.replace(/[\\*?[]/g, "\\$&")}/**)`]
  return ask.length + deny.length === 0 ? {} : { permissions: { ask, deny } }
}

const editedFile = (tool: string, input: Input): string | undefined => {
  if (!["Edit", "MultiEdit", "NotebookEdit", "Write"].includes(tool)) return undefined
  const path = tool === "NotebookEdit" ? input["notebook_path"] : input["file_path"]
  return typeof path === "string" ? path : undefined
}

/** Searching in no folder means the session's own. */
const lookedAt = (tool: string, input: Input): string | undefined => {
  const path = input["file_path"] ?? input["path"]
  if (tool === "Read") return typeof path === "string" ? path : undefined
  return tool === "Glob" || tool === "Grep" ? (typeof path === "string" ? path : ".") : undefined
}

/** What a request is for, in the words of rules. */
export const toolRequestOf = async (
  tool: string,
  input: Input,
  { directory, protectedPaths }: { readonly directory: string; readonly protectedPaths: ProtectedPaths }
): Promise<ToolRequest> => {
  const { command, url } = input
  if (tool === "Bash" && typeof command === "string") return { kind: "command", command }
  if (tool === "WebFetch" && typeof url === "string") return { kind: "address", url }
  const changed = editedFile(tool, input)
  if (changed !== undefined) return { kind: "change", places: [await placeOf(directory, changed, protectedPaths)] }
  const read = lookedAt(tool, input)
  if (read === undefined) return { kind: "tool", name: tool }
  return { kind: "read", places: [await placeOf(directory, read, nothingProtected)] }
}

/** Claude asks about reading in its directory only because of a rule that holds back other files. */
const isReadInside = async (directory: string, path: string): Promise<boolean> => {
  const { name } = await placeOf(directory, path, nothingProtected)
  return !isAbsolute(name) && (await isReadable(directory, path))
}

/** Whether the mode or the sandbox allows a request about which no rule says anything. */
export const isApproved = async (
  tool: string,
  input: Input,
  session: {
    readonly permissions: PermissionMode
    readonly directory: string
    readonly protectedPaths: ProtectedPaths
  },
  sandboxed: boolean
): Promise<boolean> => {
  if (session.permissions === "all") return true
  if (sandboxed && tool === "Bash") return true
  const read = lookedAt(tool, input)
  if (read !== undefined) return isReadInside(session.directory, read)
  const file = editedFile(tool, input)
  return (
    (sandboxed || session.permissions === "workspace") &&
    file !== undefined &&
    (await isInside(session.directory, file, session.protectedPaths))
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

/** `rules`: what `always` writes. */
export const permissionPrompt = (
  promptId: string,
  { input, tool }: { readonly tool: string; readonly input: Input },
  rules: ReadonlyArray<RememberedRule>,
  at: At
): PendingPrompt => ({
  ...at,
  promptId,
  kind: "permission",
  text: `${tool}: ${subjectOf(input)}`,
  options: permissionOptions(rules),
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
