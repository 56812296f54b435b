import type { InputOf } from "../actor/inputs.ts"
import type { RunEvents } from "../actor/journal.ts"

/** What a person should know of a commit or of gates, as the workspace says it. */
export const noted = ({
  notes = []
}: InputOf<"CommitVerified"> | InputOf<"QualityPassed"> | InputOf<"QualityFailed">): RunEvents =>
  notes.map((text) => ({ _tag: "Noted", text }))
