/**
 * The mark at the end of a prompt's text. The protocol gives a prompt no id of the client's, so the text carries it: what an
 * agent replays after a crash says by it whether it was given the prompt. Pure.
 */

const mark = /^\[reprise (\S+) (\d+)\]$/

export interface Marked {
  /** Without the mark. */
  readonly text: string
  readonly messageId: string
  /** 0 for the prompt itself; 1, 2, … for what continues its turn. */
  readonly n: number
}

export const withMark = (text: string, messageId: string, n: number): string => `${text}\n\n[reprise ${messageId} ${n}]`

/** Undefined: the text is not of Reprise. */
export const readMark = (text: string): Marked | undefined => {
  const trimmed = text.trimEnd()
  const at = trimmed.lastIndexOf("[reprise ")
  const [, messageId, n] = mark.exec(trimmed.slice(Math.max(at, 0))) ?? []
  return messageId === undefined ? undefined : { text: trimmed.slice(0, at).trimEnd(), messageId, n: Number(n) }
}

/** Continues a turn that was cut off. Its agent may have ended it already, unheard. */
export const goOnText =
  "Your turn was interrupted. Continue where you left off. If you had finished, repeat your last message."
