/** Asks any host to prepare the run, at its beginning and when it leaves a host. */
import { anyHost, defined, type Host } from "@reprise/protocol"
import type { RunEvents } from "../run/journal.ts"
import { locationOf } from "../run/standalone.ts"
import type { Run } from "../run/state.ts"

/** The host on which the run was prepared before, and why it leaves it. */
interface LeftHost {
  readonly host: Host
  readonly cause: "gone" | "drained"
}

const causeOf = (left: LeftHost | undefined) => {
  if (left === undefined) return "run-started"
  return left.cause === "gone" ? "host-gone" : "host-drained"
}

export const prepareWorkspace = (run: Run, left?: LeftHost): RunEvents => {
  const { planPath, remote, workspace } = run.request
  const { allowDirty, gates, postCreate, worktree } = run.request.options
  return [
    { _tag: "StepStarted", runId: run.runId, step: "PREPARE", attempt: 1, cause: causeOf(left) },
    {
      _tag: "WorkspaceAsked",
      command: {
        _tag: "PrepareWorkspace",
        runId: run.runId,
        planPath,
        workspace,
        ...defined({ remote }),
        worktree,
        allowDirty,
        postCreate,
        ...(gates.environment.length === 0 ? {} : { environment: gates.environment }),
        host: anyHost,
        ...(left === undefined ? {} : { leaving: left.host }),
        ...(left?.cause === "drained" ? { drained: true } : {})
      }
    }
  ]
}

/** Nothing of the run is under way on its host, and all of it was pushed: another host begins the next phase. */
export const leaveDrained = (run: Run, host: Host): RunEvents => [
  {
    _tag: "RunMoved",
    ...locationOf(run),
    ...defined({ step: run.step }),
    from: host,
    cause: "drained"
  },
  ...prepareWorkspace(run, { host, cause: "drained" })
]
