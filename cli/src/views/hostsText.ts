/** Hosts and the open runs on them, as data and as text for people. Pure. */
import { defined, type HostSlots, type HostView, type RunId, type RunView } from "@reprise/protocol"
import { table } from "./table.ts"

export interface HostOfRuns {
  readonly host: string
  /** Whether its services answer; absent: nobody could tell. */
  readonly hosted?: boolean
  /** When it stopped taking new runs and sessions, ISO 8601; absent: it takes them. */
  readonly drainedAt?: string
  /** The runs that it may have at a time, and those that it has; absent: any number, or it does not answer. */
  readonly slots?: HostSlots
  /** Its open runs. */
  readonly runs: ReadonlyArray<RunId>
  /** Those whose code has a remote: they can go on elsewhere. */
  readonly movable: ReadonlyArray<RunId>
}

/** A host does its work if it does that of one of its runs. */
const hostedOf = (runs: ReadonlyArray<RunView>): boolean | undefined => {
  if (runs.some(({ hosted }) => hosted === true)) return true
  return runs.some(({ hosted }) => hosted === false) ? false : undefined
}

/** One that has no open run, does not answer and is not drained is only a name that was used once. */
const isWorthTelling = ({ answers, drainedAt }: HostView): boolean => answers !== false || drainedAt !== undefined

/**
 * By name: those with open runs, and those that `known` says answer or are drained. A run that no host has taken yet is on
 * none.
 */
export const hostsOf = (
  runs: ReadonlyArray<RunView>,
  known: ReadonlyArray<HostView> = []
): ReadonlyArray<HostOfRuns> => {
  const views = new Map<string, HostView>(known.map((view) => [view.host, view]))
  const names = new Set<string>([
    ...runs.flatMap(({ host }) => (host === undefined ? [] : [host])),
    ...known.filter(isWorthTelling).map(({ host }) => host)
  ])
  return [...names].sort().map((host) => {
    const own = runs.filter((run) => run.host === host)
    const view = views.get(host)
    const hosted = own.length === 0 ? view?.answers : hostedOf(own)
    return {
      host,
      ...defined({ hosted }),
      ...(view?.drainedAt === undefined ? {} : { drainedAt: view.drainedAt }),
      ...(view?.slots === undefined ? {} : { slots: view.slots }),
      runs: own.map(({ runId }) => runId),
      movable: own.flatMap(({ remote, runId }) => (remote === undefined ? [] : [runId]))
    }
  })
}

const standing = ({ drainedAt, hosted }: HostOfRuns): string => {
  const drained = drainedAt === undefined ? "" : ", drained"
  if (hosted === undefined) return `unknown${drained}`
  return `${hosted ? "works" : "does not answer"}${drained}`
}

const slotsText = ({ hosted, slots }: HostOfRuns): string => {
  if (slots !== undefined) return `${slots.used} of ${slots.all}`
  return hosted === true ? "any number" : ""
}

export const hostsTable = (hosts: ReadonlyArray<HostOfRuns>): string =>
  table(
    ["host", "state", "slots used", "open runs", "with a remote"],
    hosts.map((host) => [
      host.host,
      standing(host),
      slotsText(host),
      String(host.runs.length),
      String(host.movable.length)
    ])
  )

/** Whether a run must wait until a run ends somewhere: hosts take runs, and each has as many as it may have. */
export const areFull = (hosts: ReadonlyArray<HostView>): boolean => {
  const takers = hosts.filter(({ answers, drainedAt }) => answers === true && drainedAt === undefined)
  return takers.length > 0 && takers.every(({ slots }) => slots !== undefined && slots.used >= slots.all)
}

/** A run that no host has taken yet, or that has left one, and that one must take now. */
export const awaitsHost = ({ host, status, waitsFor }: Pick<RunView, "host" | "status" | "waitsFor">): boolean =>
  status === "running" &&
  host === undefined &&
  waitsFor?._tag === "Workspace" &&
  waitsFor.command === "PrepareWorkspace"
