/** What checkpoints and hand-overs to a fresh author change in a run. */
import { countHandover } from "../limits/usage.ts"
import { type Evolution, unchanged } from "../run/family.ts"
import type { EventOf } from "../run/journal.ts"
import { withBase } from "../run/plan.ts"
import { mergeTasks, nothing, type PhaseCheckpoint, type PhaseRun, withPhase } from "../run/state.ts"

/** The newest checkpoint, if it is still open, gets this resolution. */
export const withResolution = (
  { checkpoint, checkpoints }: PhaseRun,
  resolution: string | undefined
): PhaseRun["checkpoints"] => {
  const newest = checkpoints.at(-1)
  return checkpoint === undefined || newest === undefined || resolution === undefined
    ? checkpoints
    : [...checkpoints.slice(0, -1), { ...newest, resolution }]
}

const checkpointOpened = (phase: PhaseRun, { checkpoint }: EventOf<"CheckpointOpened">): PhaseRun => {
  const { report } = checkpoint
  const { task, type } = report
  const completedBefore = phase.completedTasks.map(({ id }) => id)
  // It replaces the same checkpoint where that was left without an answer.
  const before = phase.checkpoints.filter((one) => one.resolution !== undefined || one.task !== task)
  return { ...phase, checkpoint, checkpoints: [...before, { task, type, completedBefore, report }] }
}

const continuationBegun = (phase: PhaseRun, { continuation }: EventOf<"ContinuationBegun">): PhaseRun => ({
  ...phase,
  continuation,
  checkpoint: undefined,
  checkpoints: withResolution(phase, continuation.resolution)
})

/** A task that is done again is done after the checkpoint, and its earlier verification no longer counts. */
const withoutTasks = (checkpoint: PhaseCheckpoint, dropped: ReadonlyArray<string>): PhaseCheckpoint => {
  const { completedBefore, resolution, task, type } = checkpoint
  const lost = type === "human-verify" && resolution !== undefined && dropped.includes(task)
  return {
    ...checkpoint,
    completedBefore: completedBefore.filter((id) => !dropped.includes(id)),
    ...(lost ? { resolution: `lost with its work: ${resolution}` } : {})
  }
}

/** A dropped task is remembered as a deviation: it will have been done twice. */
const tasksDropped = (phase: PhaseRun, { tasks }: EventOf<"TasksDropped">): PhaseRun => {
  const dropped = tasks.map((task) => task.id)
  const deviations = tasks.map(
    ({ commit, id }) => `Task ${id} was done again: its work in commit ${commit} was missing.`
  )
  const { base = phase.base, missingCommits = [] } = phase.missing ?? {}
  return {
    ...withBase(phase, base),
    verified: missingCommits.includes(phase.verified ?? "") ? undefined : phase.verified,
    completedTasks: phase.completedTasks.filter((task) => !dropped.includes(task.id)),
    checkpoints: phase.checkpoints.map((checkpoint) => withoutTasks(checkpoint, dropped)),
    deviations: [...phase.deviations, ...deviations]
  }
}

const missingOf = ({ _tag, ...missing }: EventOf<"TasksMissing">): PhaseRun["missing"] => missing

export const checkpointEvolution = {
  CheckpointReached: unchanged,
  CheckpointResolved: unchanged,
  CheckpointClaimed: (run, { checkpoint }) => withPhase(run, (phase) => ({ ...phase, claimed: checkpoint })),
  ClaimsAccepted: (run, { diffStat, tasks }) => ({
    ...withPhase(run, (phase) => ({
      ...phase,
      claimed: undefined,
      completedTasks: mergeTasks(phase.completedTasks, tasks),
      diffStat
    })),
    pending: nothing
  }),
  CheckpointOpened: (run, event) => withPhase(run, (phase) => checkpointOpened(phase, event)),
  CheckpointLeft: (run, { resolution }) =>
    withPhase(run, (phase) => ({
      ...phase,
      checkpoint: undefined,
      checkpoints: withResolution(phase, resolution)
    })),
  ContinuationBegun: (run, event) => withPhase(run, (phase) => continuationBegun(phase, event)),
  StateWritten: (run, { digest, path }) => ({
    ...withPhase(run, (phase) => ({ ...phase, statePath: path, stateDigest: digest })),
    pending: nothing
  }),
  TasksVerified: (run, { base }) => ({
    ...withPhase(run, (phase) => withBase(phase, base ?? phase.base)),
    pending: nothing
  }),
  TasksMissing: (run, event) => ({
    ...withPhase(run, (phase) => ({ ...phase, missing: missingOf(event) })),
    pending: nothing
  }),
  TasksDropped: (run, event) => withPhase(run, (phase) => tasksDropped(phase, event)),
  ContinuationEnded: (run) =>
    withPhase(countHandover(run), (phase) => ({ ...phase, continuations: phase.continuations + 1, missing: undefined }))
} satisfies Partial<Evolution>
