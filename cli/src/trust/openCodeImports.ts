/**
 * Whether the code of a working tree's `.opencode` imports what it says. Bun obeys the next `tsconfig.json` above an importing
 * file: unless one in `.opencode` ends the search, it is one of the tree, which nobody trusts and every command can write
 * (docs/agents.md#what-opencode-imports). Reads only.
 */
import { isUtf8 } from "node:buffer"
import { realpath } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { readForeignFile } from "@reprise/process"
import { visibleLine } from "../terminal/visible.ts"
import { filesAt } from "./filesOnDisk.ts"

const largestBytes = 1024 * 1024

const isCode = (path: string): boolean => /\.[cm]?[jt]sx?$/i.test(path)
const isMapping = (path: string): boolean => /(^|\/)[jt]sconfig\.json$/i.test(path)

/**
 * Words that may name another file: no tsconfig needs an escape to say anything else. Nobody knows about other encodings: Bun takes
 * UTF-16, too.
 */
const mayExtend = (bytes: Buffer): boolean => !isUtf8(bytes) || /extends|[\\\0]/i.test(bytes.toString("utf8"))

/** What to do before OpenCode may work there, for people; undefined: nothing. */
export const redirectedImports = async (directory: string): Promise<string | undefined> => {
  const folder = await realpath(join(directory, ".opencode")).catch(() => undefined)
  if (folder === undefined) return undefined
  const top = basename(folder)
  const files = await filesAt(dirname(folder), [top])
  const code = files.find(isCode)
  if (code === undefined) return undefined
  const what = `OpenCode would load ${visibleLine(code)} in ${directory}`
  const again = "commit it, and use 'reprise trust'."
  if (!files.includes(`${top}/tsconfig.json`)) {
    return `${what} with imports that a tsconfig.json outside of .opencode may redirect. Put '{}' into .opencode/tsconfig.json, ${again}`
  }
  for (const path of files.filter(isMapping)) {
    const bytes = await readForeignFile(join(dirname(folder), path), { largestBytes, follow: false }).catch(
      () => undefined
    )
    if (bytes !== undefined && !mayExtend(bytes)) continue
    return `${what} with imports that another file than ${visibleLine(path)} may redirect. Take 'extends' and backslashes out of it, write it in UTF-8, ${again}`
  }
  return undefined
}
