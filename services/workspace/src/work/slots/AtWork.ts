/** Which runs a host has at work, and how many more it may take. Pure. */
import type { Host, RunId, WorkspaceView } from "@reprise/protocol"

/**
 * The runs that have a lease of this host. The broker has the leases, so they are there after a restart;
 * but nobody frees that of a run that went on elsewhere while this host was away, so its actor is asked too.
 */
export interface AtWork {
  /** Those that were here when the leases were looked at last. */
  readonly found: ReadonlySet<RunId>
  /** Those that this process took a lease for since, with how many looks have begun afterwards. */
  readonly taken: ReadonlyMap<RunId, number>
}

export const nothingAtWork: AtWork = { found: new Set(), taken: new Map() }

export const taken = ({ found, taken: before }: AtWork, runId: RunId): AtWork => ({
  found,
  taken: new Map([...before, [runId, 0]])
})

export const ended = (atWork: AtWork, runId: RunId): AtWork => ({
  found: new Set([...atWork.found].filter((one) => one !== runId)),
  taken: new Map([...atWork.taken].filter(([one]) => one !== runId))
})

/**
 * What a look has found takes the place of what was found before. The actor may learn a moment later that its run was
 * prepared here, so a run that was just taken counts by itself until the second look.
 */
export const looked = ({ taken: before }: AtWork, found: ReadonlySet<RunId>): AtWork => ({
  found,
  taken: new Map([...before].flatMap(([runId, looks]) => (looks > 0 ? [] : [[runId, looks + 1] as const])))
})

/** Whether a run's files are on this host, as its actor says. What is not prepared yet, or again, is nowhere. */
export const isHere = (view: WorkspaceView | undefined, host: Host): boolean => view?.host === host

/** How many runs have a slot, with those that are being prepared here: each counts once. */
export const usedSlots = (atWork: AtWork, preparing: ReadonlySet<string>): number =>
  new Set<string>([...atWork.found, ...atWork.taken.keys(), ...preparing]).size

/** How many more runs may come. A host may have more than its limit: work that is addressed to it is done in any case. */
export const freeSlots = (limit: number, atWork: AtWork, preparing: ReadonlySet<string>): number =>
  Math.max(0, limit - usedSlots(atWork, preparing))
