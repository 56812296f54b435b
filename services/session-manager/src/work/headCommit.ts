/** The commit at which a turn left its directory, so that a fork can begin there. */
import { runGit } from "@reprise/process"
import { Context, Effect } from "effect"
import { gitOfSession } from "./gitOfSession.ts"

const timeoutMs = 10_000

/** undefined: the directory is not the top of a git repository, has no commit, or git does not answer. */
export const headCommit = (directory: string): Effect.Effect<string | undefined> =>
  directory === ""
    ? Effect.succeed(undefined)
    : runGit(directory, ["rev-parse", "--verify", "--quiet", "HEAD"], gitOfSession(timeoutMs)).pipe(
        Effect.map(({ exitCode, stdout }) => (exitCode === 0 ? stdout.trim() : undefined)),
        Effect.orElseSucceed(() => undefined)
      )

/** A service, so that a simulation can answer for its own files. */
export const HeadCommit = Context.Reference<typeof headCommit>("@reprise/session-manager/HeadCommit", {
  defaultValue: () => headCommit
})

/** For a report. */
export const committedIn = Effect.fnUntraced(function* (directory: string) {
  const head = yield* HeadCommit
  const commit = yield* head(directory)
  return commit === undefined ? {} : { commit }
})
