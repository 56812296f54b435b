/** What becomes of the open runs and sessions of a host that is drained. Pure. */
import type { RunView, SessionView } from "@reprise/protocol"
import { isOpenRun, isOver } from "./ended.ts"

/**
 * `leaves`: it moves elsewhere once its phase is finished. `ends`: its last phase is under way. `waits`: somebody must
 * answer or resume it before it can leave. `stays`: its code is on this host alone.
 */
export type Fate = "leaves" | "ends" | "waits" | "stays"

/** An open run of the host. */
export const fateOf = ({ phases, remote, status }: RunView): Fate => {
  if (remote === undefined) return "stays"
  if (status === "waiting" || status === "paused") return "waits"
  return phases.some(({ state }) => state === "pending") ? "leaves" : "ends"
}

/** What a host that is stopped does not lose. */
const untilItIsBack = "it waits while the host is stopped, loses nothing, and continues when the host is back"

const whatItNeeds = ({ escalationId, runId, status }: RunView): string => {
  if (status === "paused") return `is paused: 'reprise resume ${runId}' continues it`
  return escalationId === undefined
    ? "waits for an answer: 'reprise gate' asks you"
    : `waits for an answer: 'reprise gate show ${escalationId}'`
}

export const fateText = (run: RunView): string => {
  const { phase, runId } = run
  const work = phase === undefined ? "its first phase" : `phase ${phase}`
  switch (fateOf(run)) {
    case "leaves":
      return `Run ${runId} moves elsewhere once ${work} is finished and pushed.`
    case "ends":
      return `Run ${runId} is in its last phase, and ends here.`
    case "waits":
      return `Run ${runId} ${whatItNeeds(run)}. It moves elsewhere once ${work} is finished and pushed.`
    case "stays":
      return `Run ${runId} stays: its code is only on this host. It keeps working; ${untilItIsBack}.`
  }
}

const sessionText = ({ sessionId }: SessionView): string =>
  `Session ${sessionId} stays: its files are only on this host; ${untilItIsBack}.`

/** How a run that was on the host left it. */
const leftText = (runId: string, now: RunView | undefined): string => {
  if (now === undefined || !isOpenRun(now)) return `Run ${runId} has ended: ${now?.status ?? "it is pruned"}.`
  return now.host === undefined
    ? `Run ${runId} has left, and waits for another host.`
    : `Run ${runId} has left: it continues on host ${now.host}.`
}

/** The host's standalone sessions that have not ended. */
export const sessionsOn = (sessions: ReadonlyArray<SessionView>, host: string): ReadonlyArray<SessionView> =>
  sessions.filter((session) => session.host === host && session.prompt !== undefined && !isOver(session))

/** The host's open runs. */
export const runsOn = (runs: ReadonlyArray<RunView>, host: string): ReadonlyArray<RunView> =>
  runs.filter((run) => run.host === host && isOpenRun(run))

const withFate = (runs: ReadonlyArray<RunView>, ...fates: ReadonlyArray<Fate>) =>
  runs.filter((run) => fates.includes(fateOf(run)))

/** Runs that leave by themselves, or end: worth waiting for. */
export const underWayIn = (runs: ReadonlyArray<RunView>): ReadonlyArray<RunView> => withFate(runs, "leaves", "ends")
export const waitingIn = (runs: ReadonlyArray<RunView>): ReadonlyArray<RunView> => withFate(runs, "waits")

/** A line for each run that has changed between two looks at the host: `told` are the lines that were said last. */
export const progressLines = (
  told: ReadonlyMap<string, string>,
  all: ReadonlyArray<RunView>,
  host: string
): ReadonlyMap<string, string> => {
  const here = runsOn(all, host)
  const gone = [...told.keys()].filter((runId) => here.every((run) => run.runId !== runId))
  return new Map([
    ...gone.map(
      (runId) =>
        [
          runId,
          leftText(
            runId,
            all.find((run) => run.runId === runId)
          )
        ] as const
    ),
    ...here.map((run) => [run.runId, fateText(run)] as const)
  ])
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** What is left there that no other host could take; undefined: nothing. */
const keptText = (runs: ReadonlyArray<RunView>, sessions: ReadonlyArray<SessionView>): string | undefined => {
  const kept = withFate(runs, "stays")
  if (kept.length + sessions.length === 0) return undefined
  const what = [
    ...(kept.length === 0 ? [] : [counted(kept.length, "run", "runs")]),
    ...(sessions.length === 0 ? [] : [counted(sessions.length, "session", "sessions")])
  ].join(" and ")
  return `${what} of this host alone ${kept.length + sessions.length === 1 ? "goes" : "go"} on when it is back`
}

/** The last lines: what the host has now, and what to do. `runs` are its open runs. */
export const drainedText = (
  host: string,
  runs: ReadonlyArray<RunView>,
  sessions: ReadonlyArray<SessionView>
): ReadonlyArray<string> => {
  const lines = sessions.map(sessionText)
  const busy = underWayIn(runs)
  const waiting = waitingIn(runs)
  if (busy.length > 0) {
    const still = `${counted(busy.length, "run is", "runs are")} still at work there`
    return [...lines, `Host ${host} takes no new runs. ${still}: 'reprise hosts drain ${host}' waits for them.`]
  }
  if (waiting.length > 0) {
    const still = `${counted(waiting.length, "run waits", "runs wait")} there for somebody`
    const forget = `stop the host and 'reprise hosts forget ${host}' has them begin their phase again elsewhere`
    return [...lines, `Host ${host} takes no new runs, and ${still}. Answer, and run this again; or ${forget}.`]
  }
  const kept = keptText(runs, sessions)
  const what = kept === undefined ? "it has no open run and no session" : kept
  return [...lines, `Host ${host} is drained, and can be stopped: ${what}.`]
}
