import { addTokens, type Tokens } from "@reprise/protocol"
import type { Run } from "../actor/state.ts"

/** Author and reviewer together. */
export const allTokens = (run: Run): Tokens => addTokens(run.usage.author.tokens, run.usage.reviewer.tokens)

/** What a token budget counts: everything but what the vendor's cache served. */
export const spentTokens = (run: Run): number => {
  const { cacheWrite, input, output, reasoning } = allTokens(run)
  return input + output + reasoning + cacheWrite
}

/** US dollars. */
export const spentCost = (run: Run): number => run.usage.author.cost + run.usage.reviewer.cost
