import { posix } from "node:path"
import type { WorkspaceCommand } from "@reprise/protocol"
import { Effect } from "effect"
import { commitSubjects } from "./commitSubjects.ts"
import type { Place, WorkspaceFact } from "./domain/messages.ts"
import { isAmong, isOwnFile } from "./domain/ownFiles.ts"
import { Impossible } from "./faults.ts"
import { Git } from "./Git.ts"
import { WorkspaceFiles } from "./WorkspaceFiles.ts"

type FinishPhase = Extract<WorkspaceCommand, { readonly _tag: "FinishPhase" }>

/**
 * Commits the review file, the only file that may be left, and reads the plan again (workspace: Finish a phase). Beside
 * that file HEAD may hold nothing but what was approved.
 * Done again after a crash it finds its commit and makes no second one.
 */
export const finishPhase = Effect.fn("finishPhase")(function* (command: FinishPhase, place: Place) {
  const git = yield* Git
  const files = yield* WorkspaceFiles
  const { phase, runId } = command
  const { directory } = place
  const reviewPath = posix.normalize(command.reviewPath)
  // Refused where it leads out.
  yield* files.kind(directory, reviewPath)

  const dirty = (yield* git.dirty(directory, "each")).filter((path) => !isOwnFile(path))
  const others = dirty.filter((path) => path !== reviewPath && !isAmong(path, place.tolerated))
  if (others.length > 0) {
    return { _tag: "PhaseBlocked", runId, phase, dirty: others } satisfies WorkspaceFact
  }
  const { approved } = command
  const now = (yield* git.head(directory)) ?? ""
  const changed = approved === undefined || now === approved ? [] : yield* git.changed(directory, approved, now)
  if (changed.some((path) => path !== reviewPath)) {
    return { _tag: "PhaseBlocked", runId, phase, dirty: [], head: now } satisfies WorkspaceFact
  }
  const plan = yield* files.read(directory, command.planPath)
  if (plan === undefined) {
    return yield* new Impossible({ reason: `The plan ${command.planPath} is gone. Restore it from git.` })
  }

  const message = `docs(review): finalize phase ${phase}`
  const committed = dirty.includes(reviewPath) ? yield* git.commitFile(directory, reviewPath, message) : undefined
  const head = committed ?? now
  const commit = committed ?? ((yield* git.subject(directory, head)) === message ? head : undefined)
  const subjects = yield* commitSubjects(directory, command.commits ?? [])
  return {
    _tag: "PhaseFinished",
    runId,
    phase,
    head,
    ...(commit === undefined ? {} : { commit }),
    plan,
    ...(subjects.length === 0 ? {} : { subjects })
  } satisfies WorkspaceFact
})
