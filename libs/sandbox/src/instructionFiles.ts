/**
 * Files of instructions that agents' programs read by themselves outside of the sandbox, at the top and beside files that they
 * work on: OpenCode follows a link there, to a key too, and waits for a pipe. Reads only.
 */
import { lstat, readlink, realpath } from "node:fs/promises"
import { basename } from "node:path"
import { isWithin } from "./policy.ts"

/** Some file systems find them in any case of letters. */
export const instructionNames: ReadonlyArray<string> = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"]

const lowerNames: ReadonlySet<string> = new Set(instructionNames.map((name) => name.toLowerCase()))

export const isInstructions = (path: string): boolean => lowerNames.has(basename(path).toLowerCase())

export interface InstructionPlace {
  readonly workspace: string
  /** Real folders in it that are not for agents, such as git's. */
  readonly closed: ReadonlyArray<string>
}

/** Of several files of instructions one is often a link to another. */
const leadsToInstructions = async (path: string, { closed, workspace }: InstructionPlace): Promise<boolean> => {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined || !isInstructions(real) || !isWithin(real, workspace)) return false
  if (closed.some((folder) => isWithin(real, folder))) return false
  return (await lstat(real).catch(() => undefined))?.isFile() === true
}

/** Undefined: a file, a folder, or a link to another file of instructions. */
export const misleadingInstructions = async (path: string, place: InstructionPlace) => {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || found.isFile() || found.isDirectory() || found.isSocket()) return undefined
  if (!found.isSymbolicLink()) return { path, says: ["instructions for agents that never end"], content: "" }
  if (await leadsToInstructions(path, place)) return undefined
  const target = await readlink(path).catch(() => "")
  return { path, says: ["instructions for agents that are a link to something else"], content: target }
}
