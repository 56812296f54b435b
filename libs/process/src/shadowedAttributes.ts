/**
 * Attributes of Reprise's own, which count more than all that a working tree says. No option and no setting of git does that: only
 * `info/attributes` of the folder that the worktrees of a repository share. So git is given another such folder, in which everything
 * else leads to the real one.
 */
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { hasCode } from "./files.ts"
import { readForeignText } from "./foreignFile.ts"
import { insist, onDisk } from "./ownIndex.ts"
import { fieldsOf } from "./pathBytes.ts"
import { type GitOptions, runGit } from "./runGit.ts"
import type { ProgramFailed } from "./runProgram.ts"
import { makeTemporaryFolder } from "./temporaryFolder.ts"

/** What a file holds says whether it is text: a working tree that says `*.ts -diff` would hide what was done in it. */
export const textByContent = "* !diff"

const attributes = "attributes"
/** git takes ten times more; nobody has so much. */
const largestBytes = 10 * 1024 * 1024

const namesIn = (folder: string) =>
  readdir(folder).catch((error) => {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return []
    throw error
  })

const linkAll = async (from: string, to: string, but: ReadonlyArray<string>) => {
  for (const name of await namesIn(from)) if (!but.includes(name)) await symlink(join(from, name), join(to, name))
}

/** What git reads of a repository's form before it reads what a configuration includes. */
const formOf = Effect.fnUntraced(function* (directory: string, config: string, options: GitOptions) {
  const form = "^(core\\.repositoryformatversion|extensions\\.[^.]+)$"
  const { stdout } = yield* runGit(directory, ["config", "--file", config, "-z", "--get-regexp", form], options)
  return fieldsOf(stdout)
})

/** A link would do, but that git looks beside the link for what a configuration includes by a relative path. */
const including = (config: string, form: ReadonlyArray<string>): string =>
  [
    ...form.map((setting) => {
      const [name = "", ...value] = setting.split("\n")
      const dot = name.indexOf(".")
      return `[${name.slice(0, dot)}]\n\t${name.slice(dot + 1)} = ${JSON.stringify(value.join("\n"))}\n`
    }),
    `[include]\n\tpath = ${JSON.stringify(config)}\n`
  ].join("")

const fill = async (folder: string, common: string, lines: string, form: ReadonlyArray<string>) => {
  const info = join(folder, "info")
  const real = join(common, "info")
  await linkAll(common, folder, ["info", "config"])
  await writeFile(join(folder, "config"), including(join(common, "config"), form))
  await mkdir(info)
  await linkAll(real, info, [attributes])
  const users = (await readForeignText(join(real, attributes), { largestBytes, follow: true })) ?? ""
  await writeFile(join(info, attributes), `${users}\n${lines}\n`)
}

/**
 * For git's look at the working tree of a directory: `lines`, as of a `.gitattributes`, count more than all others. The user's
 * `info/attributes` count as before, but for what `lines` says. Only for commands that write nothing. Until the scope closes.
 */
export const shadowedAttributes = Effect.fn("shadowedAttributes")(function* (
  directory: string,
  lines: string,
  options: GitOptions = {}
): Effect.fn.Return<Pick<GitOptions, "shared">, ProgramFailed, Scope.Scope> {
  const args = ["rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir", "--show-toplevel"]
  const [gitDirectory = "", common = "", workTree = ""] = (yield* insist(directory, args, options)).split("\n")
  const folder = yield* Effect.acquireRelease(
    onDisk(() => makeTemporaryFolder("git")),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  const form = yield* formOf(directory, join(common, "config"), options)
  yield* onDisk(() => fill(folder, common, lines, form))
  return { shared: { gitDirectory, workTree, folder } }
})
