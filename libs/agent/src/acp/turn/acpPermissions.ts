/** What an agent wants to do, in the words of rules, and which of its options says what was decided. Pure but for paths. */
import type { PermissionOption, PermissionOptionKind, ToolCallUpdate } from "@agentclientprotocol/sdk"
import type { PermissionMode } from "@reprise/protocol"
import { isInside, isReadable, nothingProtected, type ProtectedPaths, placeOf } from "../../isInside.ts"
import type { PendingPrompt } from "../../RuntimeEvent.ts"
import type { HeldBack, RememberedRule, ToolRequest } from "../../rules/PermissionRules.ts"
import { permissionOptions } from "../../rules/permissionOptions.ts"
import { isSecretFile } from "../../secretFiles.ts"
import { toolArgument } from "../../toolArgument.ts"

type Input = Readonly<Record<string, unknown>>

const isInput = (input: unknown): input is Input => typeof input === "object" && input !== null

const named = (input: Input, names: ReadonlyArray<string>): string | undefined =>
  names.map((name) => input[name]).find((value): value is string => typeof value === "string" && value !== "")

/** All files that a call names, in its fields and as its places. */
const pathsOf = ({ content, locations, rawInput }: ToolCallUpdate): ReadonlyArray<string> => {
  const input = isInput(rawInput) ? rawInput : {}
  const fields = ["filePath", "file_path", "filepath", "notebook_path", "path"].map((name) => input[name])
  const diffs = (content ?? []).flatMap((part) => (part.type === "diff" ? [part.path] : []))
  const paths = [...fields, ...(locations ?? []).map(({ path }) => path), ...diffs]
  return [...new Set(paths.filter((path): path is string => typeof path === "string" && path !== ""))]
}

/** Whether a call of this kind should name a file or a command, and names none. */
export const namesNothing = (call: ToolCallUpdate): boolean =>
  call.kind !== undefined &&
  call.kind !== null &&
  ["read", "edit", "delete", "move", "execute", "fetch"].includes(call.kind) &&
  toolArgument(call.rawInput) === undefined &&
  pathsOf(call).length === 0

/** A request with what its call has told before. */
export const withInput = (call: ToolCallUpdate, told: unknown): ToolCallUpdate => ({
  ...call,
  rawInput: { ...(isInput(told) ? told : {}), ...(isInput(call.rawInput) ? call.rawInput : {}) }
})

/** OpenCode writes several files of one change as one text. */
const isSeveral = (path: string): boolean => path.includes(", ") || path.includes("\n")

const titleOf = ({ kind, name, title }: ToolCallUpdate): string => name ?? title ?? kind ?? "tool"

/** The session that a request belongs to. */
interface Where {
  readonly permissions: PermissionMode
  readonly directory: string
  readonly protectedPaths: ProtectedPaths
}

/** A call that does not say what it works on is a tool by its title: no rule about commands or files allows it. */
export const toolRequestOf = async (
  call: ToolCallUpdate,
  { directory, protectedPaths }: Pick<Where, "directory" | "protectedPaths">
): Promise<ToolRequest> => {
  const input = isInput(call.rawInput) ? call.rawInput : {}
  const command = named(input, ["command", "cmd"])
  // Before OpenCode asks for a command it asks for the folders outside that the command names.
  const isForCommand = call.kind === "execute" || (call.kind === "other" && Array.isArray(input["directories"]))
  if (isForCommand && command !== undefined) return { kind: "command", command }
  const url = named(input, ["url"])
  if (call.kind === "fetch" && url !== undefined) return { kind: "address", url }
  const paths = pathsOf(call)
  // OpenCode asks for a folder outside before it asks for what is done to the file in it.
  const outside = named(input, ["parentDir"]) === undefined ? undefined : named(input, ["filepath"])
  if (outside !== undefined) return { kind: "read", places: [await placeOf(directory, outside, nothingProtected)] }
  if (paths.some(isSeveral)) return { kind: "tool", name: titleOf(call) }
  const places = (kept: ProtectedPaths) => Promise.all(paths.map((path) => placeOf(directory, path, kept)))
  if ((call.kind === "edit" || call.kind === "delete" || call.kind === "move") && paths.length > 0) {
    return { kind: "change", places: await places(protectedPaths) }
  }
  if (call.kind === "read" && paths.length > 0) return { kind: "read", places: await places(nothingProtected) }
  return { kind: "tool", name: titleOf(call) }
}

/**
 * Whether a call does not say what it works on, although rules hold back some of that: whatever the mode, nobody can tell
 * whether they forbid it.
 */
export const isUnclear = ({ kind }: ToolCallUpdate, wanted: ToolRequest, held: HeldBack): boolean => {
  if (wanted.kind !== "tool") return false
  if (kind === "execute") return held.commands || held.files
  if (kind === "fetch") return held.addresses
  return held.files && (kind === "read" || kind === "edit" || kind === "delete" || kind === "move")
}

/** Whether the mode or the sandbox allows a request about which no rule says anything. */
export const isApproved = async (
  request: ToolRequest,
  { directory, permissions, protectedPaths }: Where,
  sandboxed = false
): Promise<boolean> => {
  if (permissions === "all") return true
  if (request.kind === "command") return sandboxed
  if (request.kind !== "read" && request.kind !== "change") return false
  if (request.kind === "change" && permissions !== "workspace" && !sandboxed) return false
  const allows = async (name: string) =>
    request.kind === "change"
      ? isInside(directory, name, protectedPaths)
      : !name.startsWith("/") && !isSecretFile(name) && (await isReadable(directory, name))
  return request.places.length > 0 && (await Promise.all(request.places.map(({ name }) => allows(name)))).every(Boolean)
}

/** The option of one of the kinds, the first kind first. Undefined: the agent offers none, so its question is withdrawn. */
export const optionOf = (
  options: ReadonlyArray<PermissionOption>,
  kinds: ReadonlyArray<PermissionOptionKind>
): string | undefined => {
  for (const kind of kinds) {
    const found = options.find((option) => option.kind === kind)
    if (found !== undefined) return found.optionId
  }
  return undefined
}

/** What is allowed once must be asked for again: a lasting grant of the agent's would stand before every rule. */
export const allowing: ReadonlyArray<PermissionOptionKind> = ["allow_once"]
export const rejecting: ReadonlyArray<PermissionOptionKind> = ["reject_once", "reject_always"]

interface At {
  readonly sessionId: string
  readonly causePromptId: string
}

const longest = 2000

/** `rules`: what `always` writes. */
export const permissionPrompt = (
  promptId: string,
  call: ToolCallUpdate,
  rules: ReadonlyArray<RememberedRule>,
  at: At
): PendingPrompt => {
  const subject = toolArgument(call.rawInput) ?? pathsOf(call).join(", ")
  const title = call.title ?? titleOf(call)
  const words = [call.kind ?? "tool", title, ...(subject === "" || title.includes(subject) ? [] : [subject])]
  return {
    ...at,
    promptId,
    kind: "permission",
    text: `${words[0]}: ${words.slice(1).join(": ")}`.slice(0, longest),
    options: permissionOptions(rules),
    questions: []
  }
}
