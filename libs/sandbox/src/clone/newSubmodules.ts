/** Gives submodules that an author added a git directory in the repository, as 'git submodule add' would have made it. */
import { lstat } from "node:fs/promises"
import { join, relative } from "node:path"
import { Effect } from "effect"
import { gitIn, type Here, insistIn } from "./cloneGit.ts"
import type { ClonedDirectory } from "./clonePlaces.ts"

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
  const named = ["config", "--blob", `${commit}:.gitmodules`, "-z", "--get-regexp", "^submodule\\."]
  const { stdout } = yield* gitIn(here, named)
  const added: Array<ClonedDirectory> = []
  for (const { name, path, url } of namedIn(stdout)) {
    const directory = join(own.directory, "modules", name)
    const to = join(own.to, "modules", name)
    // What git refuses as a name or a path is in no tree that it took.
    const { stdout: entry } = yield* gitIn(here, ["ls-tree", "-z", commit, "--", path])
    if (!entry.startsWith("160000 ") || (yield* isFolder(directory)) || !(yield* isFolder(to))) continue
    yield* insistIn(here, ["init", "--quiet", "--bare", "--template=", directory])
    const settings = [
      ["core.worktree", relative(directory, join(here.workspace, path))],
      ["remote.origin.url", url],
      ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
      ["core.bare", "false"]
    ] as const
    for (const [key, value] of settings)
      yield* insistIn(here, ["config", "--file", join(directory, "config"), key, value])
    added.push({ directory, to, seen: own.seen === own.to ? to : directory, objects: own.objects })
  }
  return added
})
