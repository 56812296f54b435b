/** A check looks at a story that is over, and says what in it is wrong. */

import type { Story } from "../simulate.ts"
import type { Histories } from "./histories.ts"

export interface Violation {
  readonly check: string
  readonly detail: string
}

/** Gives what is wrong, in a sentence each. */
export type Check = (story: Story, histories: Histories) => ReadonlyArray<string>
