/** Which of the configured actions is next. Pure: what was tried before, and what is possible now, come with the call. */
import type { ActionName, Configured, Detailed } from "./Action.ts"

/** How often each of a trigger's actions was tried, by its place in the configuration. */
export interface Tried {
  readonly counts: ReadonlyArray<number>
  /** When the newest was taken, ISO 8601. */
  readonly lastAt?: string
}

export const nothingTried: Tried = { counts: [] }

export interface Chosen<Name extends ActionName = ActionName> {
  readonly action: Name | "escalate"
  /** Its place in the configuration. */
  readonly place: number
  /** From 1. */
  readonly attempt: number
  /** How long to wait first, so that attempts are as far apart as configured. */
  readonly delayMs: number
}

/** Waiting has bounds of its own, and what an agent asks is asked as often as it needs. */
const unbounded: ReadonlyArray<ActionName> = ["wait", "approve", "reject", "escalate", "fail"]

const isDetailed = <Name extends ActionName>(one: Configured<Name>): one is Detailed<Name> => typeof one === "object"

const settled = <Name extends ActionName>(configured: Configured<Name>) => {
  const one: Detailed<Name> = isDetailed(configured) ? configured : { action: configured }
  const attempts = one.attempts ?? (unbounded.includes(one.action) ? Number.POSITIVE_INFINITY : 1)
  return { action: one.action, attempts, cooldownMs: one.cooldownMs ?? 0 }
}

/** The first action that is possible and was not yet tried as often as it may be; else a human is asked. */
export const chooseAction = <Name extends ActionName>(
  configured: ReadonlyArray<Configured<Name>>,
  tried: Tried,
  now: string,
  isPossible: (action: Name) => boolean = () => true
): Chosen<Name> => {
  for (const [place, one] of configured.entries()) {
    const { action, attempts, cooldownMs } = settled(one)
    const count = tried.counts[place] ?? 0
    if (count >= attempts || !isPossible(action)) continue
    const sinceLastMs = tried.lastAt === undefined ? Infinity : Date.parse(now) - Date.parse(tried.lastAt)
    return { action, place, attempt: count + 1, delayMs: Math.max(0, cooldownMs - sinceLastMs) }
  }
  return { action: "escalate", place: configured.length, attempt: 1, delayMs: 0 }
}

/** After an action was taken. The ones behind it begin anew. */
export const triedOnce = (tried: Tried, { attempt, place }: Pick<Chosen, "attempt" | "place">, at: string): Tried => ({
  counts: [...Array.from({ length: place }, (_, before) => tried.counts[before] ?? 0), attempt],
  lastAt: at
})

/** What follows an action of ours within this long is its echo, and no progress of the agent's own. */
const echoMs = 60_000

/** Forgets what was tried when the agent has used tools or written since, and not only because it was nudged. */
export const afterProgress = (tried: Tried, worked: boolean, now: string): Tried => {
  const isEcho = tried.lastAt !== undefined && Date.parse(now) - Date.parse(tried.lastAt) <= echoMs
  return worked && !isEcho ? nothingTried : tried
}
