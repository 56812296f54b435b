import type { ContextFill, ContinuationOptions } from "@reprise/protocol"

/** How full a conversation is, from 0 to 1; undefined when its model's context window is not known. */
export const fillOf = (
  { limit, tokens }: ContextFill,
  { contextWindow }: Pick<ContinuationOptions, "contextWindow">
): number | undefined => {
  const window = limit ?? contextWindow
  return window === 0 ? undefined : tokens / window
}
