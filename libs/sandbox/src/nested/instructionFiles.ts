/**
 * Links, pipes and devices by the names of instructions for agents: OpenCode reads what they lead to, outside of the sandbox, and
 * waits for pipes. Reads only.
 */
import { lstat, readlink } from "node:fs/promises"
import { basename, normalize } from "node:path"
import { kindOf } from "@reprise/process"

const instructionNames = ["agents.md", "claude.md", "context.md"]

/** For `find`. Plain files and folders are no matter, so trees with many of them are not searched longer. */
export const instructionSearch = [
  ...["(", "!", "-type", "f", "!", "-type", "d", "("],
  ...instructionNames.flatMap((name, index) => [...(index === 0 ? [] : ["-o"]), "-iname", name]),
  ...[")", ")"]
]

/** File systems may take any case of letters for the same name. */
export const isInstructionName = (path: string): boolean => instructionNames.includes(basename(path).toLowerCase())

/** Undefined: it leads to no other file than instructions beside it. */
export const instructionsAt = async (path: string) => {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || found.isFile() || found.isDirectory()) return undefined
  const target = found.isSymbolicLink() ? normalize(await readlink(path).catch(() => "/")) : undefined
  if (target !== undefined && instructionNames.includes(target.toLowerCase())) return undefined
  return { path, says: [`a name of agents' instructions, which ${kindOf(found)}`], content: target ?? kindOf(found) }
}
