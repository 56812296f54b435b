/**
 * Submodules that the work adds or moves. A commit has of one only the name of a commit in another repository: what is in that, no
 * diff of this repository shows, and where it is on no server nobody but this host has it.
 */
import { Effect } from "effect"
import type { GitResult } from "./runGit.ts"
import { attempt, text } from "./runGit.ts"

export interface MovedSubmodule {
  readonly path: string
  /** Full hashes; undefined: the path was not a submodule. */
  readonly before: string | undefined
  readonly now: string
  /** As `.gitmodules` of the commit has it; undefined: it names none for this path. */
  readonly url: string | undefined
}

const link = "160000"

/** The output of `git diff --raw -z --no-abbrev --no-renames`. Pure. */
export const readMovedLinks = (raw: string): ReadonlyArray<Omit<MovedSubmodule, "url">> => {
  const fields = raw.split("\0")
  return fields.flatMap((record, at) => {
    const [, modeBefore, modeNow, before, now] = /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) [A-Z]/.exec(record) ?? []
    const path = fields[at + 1]
    // A path may look like a record: they take turns.
    if (at % 2 !== 0 || modeNow !== link || now === undefined || path === undefined) return []
    return [{ path, before: modeBefore === link ? before : undefined, now }]
  })
}

/** The output of `git config -z --get-regexp` for paths and urls, as urls by path. Pure. */
export const readUrls = (listed: string): ReadonlyMap<string, string> => {
  const settings = new Map(
    listed.split("\0").flatMap((field) => {
      const at = field.indexOf("\n")
      return at === -1 ? [] : [[field.slice(0, at), field.slice(at + 1)] as const]
    })
  )
  return new Map(
    [...settings].flatMap(([name, path]) => {
      const url = name.endsWith(".path") ? settings.get(`${name.slice(0, -".path".length)}.url`) : undefined
      return url === undefined || url.trim() === "" ? [] : [[path.replace(/\/$/, ""), url] as const]
    })
  )
}

/** Between two commits (full hashes). */
export const movedSubmodules = (
  directory: string,
  from: string,
  to: string
): GitResult<ReadonlyArray<MovedSubmodule>> =>
  Effect.gen(function* () {
    const options = ["--raw", "-z", "--no-abbrev", "--no-renames", "--no-relative", "--ignore-submodules=none"]
    const moved = readMovedLinks(yield* text(directory, ["diff", ...options, "--end-of-options", from, to, "--"]))
    if (moved.length === 0) return []
    const named = ["config", `--blob=${to}:.gitmodules`, "--no-includes", "-z", "--get-regexp"]
    // Without the file, or with one that git cannot read, it names nothing.
    const { exitCode, stdout } = yield* attempt(directory, [...named, "^submodule\\..*\\.(path|url)$"])
    const urls = exitCode === 0 ? readUrls(stdout) : new Map<string, string>()
    return moved.map((one) => ({ ...one, url: urls.get(one.path) }))
  })
