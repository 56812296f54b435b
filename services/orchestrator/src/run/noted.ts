import type { InputOf } from "./inputs.ts"
import type { RunEvents } from "./journal.ts"

/** What a person should know of a commit or of gates, as the workspace says it. */
export const noted = ({
  notes = []
}: InputOf<"CommitVerified"> | InputOf<"QualityPassed"> | InputOf<"QualityFailed">): RunEvents =>
  notes.map((text) => ({ _tag: "Noted", text }))
