/**
 * The instructions for agents that a repository had before somebody worked in it: a reviewer gets these, since whoever wrote the
 * work could tell the reviewer in an `AGENTS.md` to approve it (docs/agents.md#instructions-of-a-reviewer).
 */
import { posix } from "node:path"
import { childEnvironment, committedTexts } from "@reprise/process"
import { Effect } from "effect"

const names = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"]

/** By their paths below the top of the working tree. */
export type Instructions = ReadonlyMap<string, string>

/** Those of a commit (whole hash). Never fails: where git cannot say what they were, there are none. */
export const instructionsOf = (directory: string, commit: string): Effect.Effect<Instructions> =>
  committedTexts(directory, commit, (path) => names.includes(posix.basename(path)), {
    environment: childEnvironment(process.env),
    isTop: true,
    timeoutMs: 60_000
  }).pipe(
    Effect.catch((error) =>
      Effect.logWarning(
        `a reviewer in ${directory} gets no instructions of the repository: they cannot be read from ${commit}: ${error.message}`
      ).pipe(Effect.as<Instructions>(new Map()))
    )
  )
