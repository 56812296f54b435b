/**
 * A plugin for the OpenCode that Reprise runs. It tells each command the folder of its session: the sandbox goes by it, and where
 * a command begins is the agent's choice. It has file tools open the path that was judged. And it gives the model only such
 * instructions of a repository as are plain files in it: OpenCode follows a link by the name `AGENTS.md`, outside of the sandbox, to
 * whatever a command made it lead to. A reviewer gets those that were there before the work that it reviews. Pure.
 */
import { sessionFolder } from "@reprise/sandbox"
import { instructionsVariable } from "./toldInstructions.ts"

export const pluginText = `// Written by Reprise for the OpenCode that it runs. Do not edit.
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open, readFile, readlink, realpath, stat } from "node:fs/promises"
import { basename, dirname, isAbsolute, join, normalize, relative, sep } from "node:path"

const names = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"]
const largestBytes = 1024 * 1024
const heading = "Instructions from: "

/** From a folder up to another one, or to the root. */
const upTo = (folder, last) =>
  folder === last || dirname(folder) === folder ? [folder] : [folder, ...upTo(dirname(folder), last)]

const isWithin = (folder, path) => {
  const inner = relative(folder, path)
  return !isAbsolute(inner) && inner.split(sep)[0] !== ".."
}

/** A link to the other name beside it is usual; no other link is followed. */
const behind = async (path) => {
  const target = await readlink(path).catch(() => undefined)
  return target !== undefined && names.includes(target.replace(/^\\.\\//, "")) ? join(dirname(path), target) : path
}

/** Undefined: nothing that a model may read. */
const textOf = async (named, root) => {
  const path = await behind(named)
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  try {
    const found = await file?.stat()
    if (!found?.isFile() || found.nlink > 1 || found.size > largestBytes) return undefined
    const real = await realpath(process.platform === "linux" ? "/proc/self/fd/" + file.fd : path)
    const inner = relative(root, path)
    if (real !== join(await realpath(root), inner)) return undefined
    if (inner.split(sep).some((name) => [".git", ".reprise"].includes(name.toLowerCase()))) return undefined
    return await file.readFile("utf8")
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}

const fileTools = ["read", "write", "edit", "multiedit", "list", "glob", "grep"]

/** A request names a path without "..", which is another one for the kernel where it stands behind a link. */
const asItIsJudged = (args, directory) => {
  for (const name of ["filePath", "path"]) {
    const path = args[name]
    if (typeof path !== "string" || !path.split(sep).includes("..")) continue
    args[name] = isAbsolute(path) ? normalize(path) : join(directory, path)
  }
}

/** By their paths below the folder; undefined: those that are there hold. */
const earlierIn = async (directory) => {
  const folder = process.env.${instructionsVariable}
  if (folder === undefined) return undefined
  const name = createHash("sha256").update(directory).digest("hex").slice(0, 16) + ".json"
  const none = (error) => (error.code === "ENOENT" ? undefined : "{}")
  const text = await readFile(join(folder, name), "utf8").catch(none)
  return text === undefined ? undefined : new Map(Object.entries(JSON.parse(text)))
}

/** OpenCode takes all of the first name that it finds. */
const atTop = (earlier, directory) => {
  const name = names.find((one) => earlier.has(one))
  return name === undefined ? [] : [heading + join(directory, name) + "\\n" + earlier.get(name)]
}

/** OpenCode would wait for a pipe forever, and read a device without end. */
const requireFiles = async (folders) => {
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name)))) {
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined && !found.isFile() && !found.isDirectory()) {
      throw new Error(path + " is not a regular file. Put a regular file there, or remove it.")
    }
  }
}

/** Where OpenCode's own text goes on after all instructions. */
const afterwards = ["\\n<mcp_instructions>\\n", "\\nSkills provide specialized instructions and workflows for specific tasks."]

/** The instructions of the repository in a prompt, read again; or without them, where they come from elsewhere. */
const readAgain = async (text, root, without) => {
  const from = text.indexOf("\\n" + heading + "/")
  if (from < 0) return text
  const ends = afterwards.map((one) => text.lastIndexOf(one)).filter((at) => at > from)
  const to = Math.min(text.length, ...ends)
  const parts = text.slice(from + 1, to).split(new RegExp("\\\\n(?=" + heading + "[/h])"))
  const kept = []
  for (const part of parts) {
    const path = part.slice(heading.length).split("\\n", 1)[0]
    if (!isWithin(root, path)) kept.push(part)
    else if (!without) {
      const again = await textOf(path, root)
      const whole = heading + path + "\\n" + again
      if (again !== undefined && !kept.includes(whole)) kept.push(whole)
    }
  }
  return [text.slice(0, from), ...kept].join("\\n") + text.slice(to)
}

export const SessionFolder = async ({ directory, worktree }) => {
  const root = worktree === undefined || worktree === "/" || !isWithin(worktree, directory) ? directory : worktree
  return {
    "shell.env": async (_, output) => {
      output.env.${sessionFolder} = directory
    },
    "experimental.chat.messages.transform": () => requireFiles(upTo(directory, root)),
    "experimental.chat.system.transform": async (_, { system }) => {
      const earlier = await earlierIn(directory)
      for (const [at, text] of system.entries()) system[at] = await readAgain(text, root, earlier !== undefined)
      const told = earlier === undefined ? [] : atTop(earlier, directory)
      if (told.length > 0) system.push([system.pop() ?? "", ...told].join("\\n"))
    },
    "tool.execute.before": async ({ tool }, { args }) => {
      if (fileTools.includes(tool)) asItIsJudged(args ?? {}, directory)
      const path = args?.filePath
      if (tool !== "read" || typeof path !== "string") return
      const absolute = isAbsolute(path) ? path : join(directory, path)
      if (isWithin(directory, absolute)) await requireFiles(upTo(dirname(absolute), directory))
    },
    "tool.execute.after": async ({ tool }, output) => {
      const loaded = output.metadata?.loaded
      if (tool !== "read" || !Array.isArray(loaded) || loaded.length === 0) return
      const mark = "<system-reminder>\\n" + heading + loaded[0] + "\\n"
      const at = output.output.indexOf(mark)
      const texts = []
      const earlier = await earlierIn(directory)
      for (const path of loaded) {
        const text = earlier === undefined ? await textOf(path, root) : earlier.get(relative(directory, path))
        if (text !== undefined) texts.push(heading + path + "\\n" + text)
      }
      const before = at < 0 ? "" : output.output.slice(0, at)
      output.output = texts.length === 0 ? before.trimEnd() : before + "<system-reminder>\\n" + texts.join("\\n\\n") + "\\n</system-reminder>"
    }
  }
}
`
