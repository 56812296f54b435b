/** Programs of the working tree that git runs for files when it checks out a commit (`filter.<name>.smudge` and the like). */
import { realpath } from "node:fs/promises"
import { committedOtherwise, type GitOptions } from "@reprise/process"
import { Effect } from "effect"
import { isWithin } from "../policy/mounts.ts"
import { onDisk } from "../SandboxHost.ts"
import { gitConfigurationOf, gitRepositoryOf, homeOf } from "./askGit.ts"
import type { GitSetting } from "./gitKeys.ts"
import { filesOfCommand } from "./gitPlaces.ts"

/** The command lines of filters. Pure. */
export const filterCommands = (settings: ReadonlyArray<Pick<GitSetting, "key" | "value">>): ReadonlyArray<string> =>
  settings.flatMap(({ key, value }) =>
    value !== undefined && value !== "" && /^filter\..*\.(?:clean|smudge|process)$/s.test(key) ? [value] : []
  )

/**
 * Files below `directory`, the user's own working tree, that its git runs as filters and of which a commit (whole hash) has another
 * content: who checks it out elsewhere would run that outside of the sandbox. Relative. Commands cannot change the files of the
 * tree, but make any commit.
 */
export const otherFiltersOf = Effect.fn("otherFiltersOf")(function* (
  directory: string,
  commit: string,
  options: GitOptions
) {
  const environment = options.environment ?? process.env
  const { paths, top } = yield* onDisk(directory, async () => {
    const top = await realpath(directory)
    const repository = await gitRepositoryOf(top, environment)
    if (repository === undefined) return { top, paths: [] }
    const { settings } = await gitConfigurationOf(repository, environment, [])
    const named = filterCommands(settings).flatMap((line) =>
      filesOfCommand(line, { workTrees: [top], home: homeOf(environment) })
    )
    const within = named.filter((path) => path !== top && isWithin(path, top))
    return { top, paths: [...new Set(within.map((path) => path.slice(top.length + 1)))] }
  })
  return yield* committedOtherwise(top, commit, paths, options)
})

/** Why such a commit is not checked out. Pure. */
export const whyFiltersAreRefused = (paths: ReadonlyArray<string>, commit: string, directory: string): string =>
  `commit ${commit.slice(0, 12)} has another ${paths.join(", ")} than ${directory}, and git's configuration runs it as a filter. ` +
  "Look at it, and have the same file in both, or name the filter by an absolute path outside of the repository."
