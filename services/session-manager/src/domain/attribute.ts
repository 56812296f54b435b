/** Whose activity it is (sessions: Auto-resume). */

export interface Seen {
  /** The prompt that led to it, where the runtime tells. */
  readonly causePromptId?: string
  /** That prompt was one of ours. */
  readonly causeIsOurs: boolean
  /** A prompt of ours is under way in the session. */
  readonly live: boolean
  /** Since our newest prompt in the session ended; undefined: there was none. */
  readonly msSinceOurs?: number
}

/** After a prompt of ours, activity that names no cause may still be its echo for this long. */
const echoMs = 60_000

/** `ours` never counts as a human's; `unknown` resumes nothing. */
export const attribute = (seen: Seen): "ours" | "human" | "agent" | "unknown" => {
  if (seen.causePromptId !== undefined) return seen.causeIsOurs ? "ours" : "human"
  if (seen.live) return "ours"
  return seen.msSinceOurs !== undefined && seen.msSinceOurs < echoMs ? "unknown" : "agent"
}
