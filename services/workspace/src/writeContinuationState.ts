import { createHash } from "node:crypto"
import {
  continuationState,
  continuationStatePath,
  decodeContinuationState,
  encodeContinuationState
} from "@reprise/plan"
import type { StateFileProblem, WorkspaceCommand } from "@reprise/protocol"
import { Effect, Result } from "effect"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"

type WriteContinuationState = Extract<WorkspaceCommand, { readonly _tag: "WriteContinuationState" }>

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * Why what is there is not what was written last; undefined when it is, or when nothing had been. A whole record of the
 * same plan that an earlier run left behind is no surprise.
 */
const problemOf = (
  found: string | undefined,
  { expected, planId }: WriteContinuationState
): StateFileProblem | undefined => {
  if (found === undefined) return expected === undefined ? undefined : { code: "lost", detail: "it was removed" }
  if (digestOf(found) === expected) return undefined
  const state = decodeContinuationState(found, planId)
  if (Result.isFailure(state)) return { code: state.failure.code, detail: state.failure.detail }
  return expected === undefined ? undefined : { code: "edited", detail: "it is not as it was written" }
}

/** What is there, or why it cannot be read as a text. */
const readState = Effect.fnUntraced(function* (directory: string, path: string) {
  const files = yield* WorkspaceFiles
  const corrupt = (what: string) => Effect.succeed<StateFileProblem>({ code: "corrupt", detail: `it ${what}` })
  return yield* files.read(directory, path).pipe(
    Effect.catchTags({
      NotAFile: ({ what }) => corrupt(what),
      OutsideWorkspace: () => corrupt("is a link that leads out of the workspace")
    })
  )
})

/** The file is a projection of the journal for the agent: whatever is there is looked at and written again. */
export const writeContinuationState = Effect.fn("writeContinuationState")(function* (
  command: WriteContinuationState,
  place: Place
) {
  const files = yield* WorkspaceFiles
  const { phase, runId } = command
  const path = continuationStatePath(phase, command.slug)
  const text = encodeContinuationState(continuationState(command))
  const found = yield* readState(place.directory, path)
  // Written already: a crash kept the report back.
  const replaced = typeof found === "object" ? found : found === text ? undefined : problemOf(found, command)
  if (found !== text) yield* files.replace(place.directory, path, text)
  return {
    _tag: "ContinuationStateWritten",
    runId,
    phase,
    path,
    digest: digestOf(text),
    ...(replaced === undefined ? {} : { replaced })
  } satisfies WorkspaceFact
})
