/** A copy of a conversation under another id: of what Claude has written down, and of what we have. */
import { readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { ClaudeStateFault } from "./ClaudeUnavailable.ts"
import type { KnownSession, KnownSessions } from "./KnownSessions.ts"
import { markTold } from "./watchTranscripts.ts"

/** The SDK's own copy looks for the transcript by our environment, not by Claude's; every line names its session. */
export const forkSession = Effect.fn("Claude.fork")(function* (
  sessions: KnownSessions,
  { record, transcript }: KnownSession,
  id: string
) {
  if (transcript !== undefined) {
    yield* Effect.tryPromise({
      try: async () => {
        const text = await readFile(transcript.path, "utf8")
        const whole = text.slice(0, text.lastIndexOf("\n") + 1)
        await writeFile(join(dirname(transcript.path), `${id}.jsonl`), whole.replaceAll(record.id, id), { mode: 0o600 })
      },
      catch: (cause) => new ClaudeStateFault({ operation: "Copying a transcript", cause })
    })
  }
  const forked = yield* sessions.save({ ...record, id })
  yield* sessions.refresh(forked)
  markTold(forked)
})
