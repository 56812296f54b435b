/**
 * What a run would ask its first author and reviewer. The run machine itself tells: it is started and given a prepared
 * workspace and a verified commit. Nothing is sent.
 */
import { anyHost, type PhaseId, type ReviewCommand } from "@reprise/protocol"
import { Result } from "effect"
import { startRun, workspacePrepared } from "../phase/prepare.ts"
import { startReview } from "../review/review.ts"
import type { InputOf } from "../run/inputs.ts"
import type { EventOf, RunEvent } from "../run/journal.ts"
import { noRun } from "../run/state.ts"
import { applyMoves } from "./applyMoves.ts"
import { evolve, evolveRun } from "./evolve.ts"

/** Placeholders for what is not known before the run. */
const unknown = { head: "<HEAD>", commit: "<the author's commit>", diffStat: "<what the author changes>" } as const

interface Preview {
  readonly phase: PhaseId
  /** The author's first prompt. */
  readonly work: string
  /** The first review, as it would be asked for. */
  readonly review: Extract<ReviewCommand, { readonly _tag: "RequestReview" }>
}

const asked = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag): EventOf<Tag> | undefined =>
  events.find((event): event is EventOf<Tag> => event._tag === tag)

/** Undefined when no phase is left to do. Fails with the reason for which the run would fail. */
export const preview = (request: InputOf<"StartRun">): Result.Result<Preview | undefined, string> => {
  const started = applyMoves(noRun, startRun(request, new Date(0).toISOString()))
  const failed = asked(started, "RunFailed")
  if (failed !== undefined) return Result.fail(failed.reason)
  const run = started.reduce(evolve, noRun)
  if (run._tag === "NoRun" || run.status === "completed") return Result.succeed(undefined)
  const { runId, workspace } = run.request
  const ready = { _tag: "WorkspacePrepared", runId, host: anyHost, directory: workspace, head: unknown.head } as const
  const begun = applyMoves(run, workspacePrepared(ready))
  const work = asked(begun, "AuthorAsked")?.command
  const after = [
    ...begun,
    { _tag: "CommitAccepted", commit: unknown.commit, diffStat: unknown.diffStat } as const
  ].reduce(evolveRun, run)
  const review = after.phase === undefined ? undefined : asked(startReview(after, after.phase), "ReviewAsked")
  return Result.succeed(
    work?._tag !== "StartTurn" || review === undefined
      ? undefined
      : { phase: review.command.phase, work: work.prompt, review: review.command }
  )
}
