/**
 * The identity of a clone: an id in git's own folder. Nobody can push it, another clone at the same path has another
 * one, and all worktrees of a clone share it.
 */
import { randomUUID } from "node:crypto"
import { realpathSync } from "node:fs"
import { join, resolve } from "node:path"
import { createPrivateFile, readPrivateFile, replaceFile, runGit } from "@reprise/process"
import { Effect, Option, Schema } from "effect"
import { missing } from "../terminal/CliFailure.ts"
import type { Project } from "./Project.ts"

export interface Clone {
  /** The folder that all worktrees of the clone share, symlinks resolved. */
  readonly gitFolder: string
  /** Undefined: Reprise has not given it one yet, or the file is damaged. */
  readonly id: string | undefined
}

export type IdentifiedClone = Clone & { readonly id: string }

const Identity = Schema.fromJsonString(
  Schema.Struct({ clone: Schema.String.check(Schema.isPattern(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)) })
)
const decodeIdentity = Schema.decodeUnknownOption(Identity)

const fileIn = (gitFolder: string) => join(gitFolder, "reprise.json")

/** By the project's root: what a command reads several times, with a process of git each, does not move meanwhile. */
const gitFolders = new Map<string, string>()

const findGitFolder = Effect.fnUntraced(function* ({ root }: Project) {
  const known = gitFolders.get(root)
  if (known !== undefined) return known
  const { exitCode, stderr, stdout } = yield* runGit(root, ["rev-parse", "--git-common-dir"], { isTop: true }).pipe(
    Effect.mapError((error) => missing("git", error.message, "Fix what git reports, then try again.", error))
  )
  if (exitCode !== 0) {
    return yield* missing(
      "git",
      `git does not find its folder for ${root}: ${stderr.trim()}`,
      "Try 'git status' there."
    )
  }
  const found = realpathSync(resolve(root, stdout.replace(/\n$/, "")))
  gitFolders.set(root, found)
  return found
})

/** What cannot be read identifies nothing. */
const readId = (gitFolder: string) =>
  Effect.promise(() => readPrivateFile(fileIn(gitFolder), 4096).catch(() => undefined)).pipe(
    Effect.map((text) => (text === undefined ? undefined : Option.getOrUndefined(decodeIdentity(text))?.clone))
  )

/** The clone that a project is in, as it is now. */
export const readClone = Effect.fn("readClone")(function* (project: Project) {
  const gitFolder = yield* findGitFolder(project)
  return { gitFolder, id: yield* readId(gitFolder) } satisfies Clone
})

const writeId = (gitFolder: string) =>
  Effect.tryPromise({
    try: async () => {
      const text = `${JSON.stringify({ clone: randomUUID() })}\n`
      // A file that is there has no readable id, or another process has just written one.
      if (await createPrivateFile(fileIn(gitFolder), text)) return
      const found = await readPrivateFile(fileIn(gitFolder), 4096).catch(() => undefined)
      if (found === undefined || Option.isNone(decodeIdentity(found))) await replaceFile(fileIn(gitFolder), text)
    },
    catch: (cause) =>
      missing(
        "clone-id",
        `${fileIn(gitFolder)} cannot be written: ${cause instanceof Error ? cause.message : cause}.`,
        "Reprise notes there which clone this is: make git's folder writable for you.",
        cause
      )
  })

/** The same; the clone gets an id if it has none. */
export const identifyClone = Effect.fn("identifyClone")(function* (project: Project) {
  const clone = yield* readClone(project)
  if (clone.id === undefined) yield* writeId(clone.gitFolder)
  const id = clone.id ?? (yield* readId(clone.gitFolder))
  if (id === undefined) {
    return yield* missing("clone-id", `${fileIn(clone.gitFolder)} cannot be read.`, "Remove it and try again.")
  }
  return { gitFolder: clone.gitFolder, id } satisfies IdentifiedClone
})
