import { createHash } from "node:crypto"
import {
  continuationState,
  continuationStatePath,
  decodeContinuationState,
  encodeContinuationState
} from "@reprise/plan"
import type { StateFileProblem } from "@reprise/protocol"
import { Effect, Result } from "effect"
import type { InputOf, WorkspaceFact } from "../../actor/inputs.ts"
import type { Place } from "../../actor/work.ts"
import { WorkspaceFiles } from "../files/WorkspaceFiles.ts"

type WriteContinuationState = InputOf<"WriteContinuationState">

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/**
 * How the file differs from what was written last; undefined when it does not, or when nothing was written before. A
 * valid record of the same plan that an earlier run left is not a problem.
 */
const problemOf = (
  found: string | undefined,
  { expected, planId }: WriteContinuationState
): StateFileProblem | undefined => {
  if (found === undefined) return expected === undefined ? undefined : { code: "lost", detail: "it was removed" }
  if (digestOf(found) === expected) return undefined
  const state = decodeContinuationState(found, planId)
  if (Result.isFailure(state)) return { code: state.failure.code, detail: state.failure.detail }
  return expected === undefined ? undefined : { code: "edited", detail: "it was changed since it was written" }
}

/** The file's text, or why it cannot be read. */
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

/**
 * Replaces the file whatever it contains, and reports if it was damaged: it is a projection of the journal for the
 * agent.
 */
export const writeContinuationState = Effect.fn("writeContinuationState")(function* (
  command: WriteContinuationState,
  place: Place
) {
  const files = yield* WorkspaceFiles
  const { phase, runId } = command
  const path = continuationStatePath(phase, command.slug)
  const text = encodeContinuationState(continuationState(command))
  const found = yield* readState(place.directory, path)
  // Written before a crash, but not reported.
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
