/**
 * Files outside of its folders that git reads because the configuration of a repository names them. Only to find out for which of
 * them git waits: so git is given one text at a time, and opens no file itself.
 */
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { Effect } from "effect"
import { readForeignText } from "./foreignFile.ts"
import { splitPath } from "./programPath.ts"
import { runProgram } from "./runProgram.ts"

const largestBytes = 1024 * 1024
const mostFiles = 100

/** An included file is named from the folder of the one that includes it, others from the top of the working tree. */
interface Named {
  readonly path: string
  readonly isIncluded: boolean
}

/** As `git config --list -z` writes keys: without upper case, except in the middle. */
const includes = /^include(?:if\..*)?\.path$/s
const opened: ReadonlySet<string> = new Set(["core.attributesfile", "core.excludesfile", "mailmap.file"])

/** The files that a list of settings names. `file`: that was listed, of a repository whose working tree is at `top`. Pure. */
export const namedIn = (listed: string, { file, top }: { readonly file: string; readonly top: string }) =>
  listed.split("\0").flatMap((record): ReadonlyArray<Named> => {
    const end = record.indexOf("\n")
    const [key, value] = [record.slice(0, Math.max(end, 0)), record.slice(end + 1)]
    const isIncluded = includes.test(key)
    if (value === "" || (!isIncluded && !opened.has(key))) return []
    const path = value.startsWith("~/")
      ? join(homedir(), value.slice(2))
      : resolve(isIncluded ? dirname(file) : top, value)
    return [{ path, isIncluded }]
  })

/** As far as git can read the text. No repository and no settings of the user count. */
const listSettings = (text: string) =>
  runProgram({
    program: "git",
    args: ["config", "--file", "-", "--no-includes", "--list", "-z"],
    directory: "/",
    environment: {
      PATH: splitPath(process.env["PATH"] ?? "", []).outside,
      GIT_DIR: "/dev/null",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1"
    },
    input: text,
    largestOutputBytes: largestBytes,
    cutsOutput: true
  }).pipe(
    Effect.map(({ stdout }) => stdout),
    Effect.orElseSucceed(() => "")
  )

/** Absolute, with those that an included file names: the first hundred. `folders`: of git, for the working tree at `top`. */
export const namedByConfiguration = Effect.fnUntraced(function* (top: string, folders: ReadonlyArray<string>) {
  const named = new Set<string>()
  const next = folders.flatMap((folder) => [join(folder, "config"), join(folder, "config.worktree")])
  for (const file of next) {
    // What is not a file has no text; the caller looks what it is.
    const read = Effect.tryPromise(() => readForeignText(file, { largestBytes, follow: true }))
    const text = yield* Effect.orElseSucceed(read, () => undefined)
    if (text === undefined) continue
    for (const { isIncluded, path } of namedIn(yield* listSettings(text), { file, top })) {
      if (named.size >= mostFiles) return [...named]
      if (named.has(path)) continue
      named.add(path)
      if (isIncluded) next.push(path)
    }
  }
  return [...named]
})
