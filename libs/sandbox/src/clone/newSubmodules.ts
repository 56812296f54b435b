/** Gives submodules that an author added a git directory in the repository, as 'git submodule add' would have made it. */
import { lstat } from "node:fs/promises"
import { join, relative } from "node:path"
import { runGit } from "@reprise/process"
import { Effect } from "effect"
import type { ClonedDirectory } from "./clonePlaces.ts"
import { CloneRefused, type Here } from "./fetchClone.ts"

const isFolder = (path: string) =>
  Effect.promise(() =>
    lstat(path).then(
      (found) => found.isDirectory(),
      () => false
    )
  )

interface Named {
  readonly name: string
  readonly path: string
  readonly url: string
}

/** As `.gitmodules` has it: `submodule.NAME.path`, a line break, and its value. Pure. */
export const namedIn = (listed: string): ReadonlyArray<Named> => {
  const settings = new Map<string, Record<string, string>>()
  for (const entry of listed.split("\0")) {
    const [, name = "", key = "", value = ""] = /^submodule\.([^\n]+)\.(path|url)\n(.*)$/su.exec(entry) ?? []
    if (key !== "") settings.set(name, { ...settings.get(name), [key]: value })
  }
  return [...settings].flatMap(([name, { path, url = "" }]) => (path === undefined ? [] : [{ name, path, url }]))
}

/** `own`: the clone of the working tree's git directory. Gives what is to be fetched besides. */
export const newSubmodules = Effect.fnUntraced(function* (here: Here, own: ClonedDirectory, commit: string) {
  const git = (...args: ReadonlyArray<string>) =>
    Effect.map(
      runGit(here.workspace, [`--git-dir=${own.directory}`, ...args], { environment: here.environment }),
      ({ exitCode, stderr, stdout }) => ({ exitCode, stderr, stdout })
    )
  const { stdout } = yield* git("config", "--blob", `${commit}:.gitmodules`, "-z", "--get-regexp", "^submodule\\.")
  const added: Array<ClonedDirectory> = []
  for (const { name, path, url } of namedIn(stdout)) {
    const directory = join(own.directory, "modules", name)
    const to = join(own.to, "modules", name)
    // What git refuses as a name or a path is in no tree that it took.
    const { stdout: entry } = yield* git("ls-tree", "-z", commit, "--", path)
    if (!entry.startsWith("160000 ") || (yield* isFolder(directory)) || !(yield* isFolder(to))) continue
    const made = yield* git("init", "--quiet", "--bare", "--template=", directory)
    if (made.exitCode !== 0) return yield* new CloneRefused({ directory, reason: made.stderr.trim() })
    const settings = [
      ["core.worktree", relative(directory, join(here.workspace, path))],
      ["remote.origin.url", url],
      ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
      ["core.bare", "false"]
    ] as const
    for (const [key, value] of settings) yield* git("config", "--file", join(directory, "config"), key, value)
    added.push({ directory, to, objects: own.objects })
  }
  return added
})
