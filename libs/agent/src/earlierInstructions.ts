/**
 * The instructions for agents that a repository had before somebody worked in it: a reviewer gets these, since whoever wrote the
 * work could tell the reviewer in an `AGENTS.md` to approve it (docs/agents.md#instructions-of-a-reviewer).
 */
import { posix } from "node:path"
import { childEnvironment, committedTexts, instructionNames, untrackedInstructions } from "@reprise/process"
import { Effect } from "effect"

/** By their paths below the top of the working tree. */
export type Instructions = ReadonlyMap<string, string>

/**
 * Those of a commit (whole hash), and those in no commit that were at the top before the run. Never fails: where git cannot say what
 * they were, there are none. `stateDirectory`: Reprise's, of the repository.
 */
export const instructionsOf = (
  stateDirectory: string,
  directory: string,
  commit: string
): Effect.Effect<Instructions> =>
  committedTexts(directory, commit, (path) => instructionNames.includes(posix.basename(path)), {
    environment: childEnvironment(process.env),
    isTop: true,
    timeoutMs: 60_000
  }).pipe(
    Effect.zipWith(untrackedInstructions(stateDirectory, directory), (committed, untracked): Instructions => {
      return new Map([...untracked, ...committed])
    }),
    Effect.catch((error) =>
      Effect.logWarning(
        `a reviewer in ${directory} gets no instructions of the repository: they cannot be read from ${commit}: ${error.message}`
      ).pipe(Effect.as<Instructions>(new Map()))
    )
  )
