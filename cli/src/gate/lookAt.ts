/** What a human can look at from a question without answering it (gate: d, t, l, a). */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Look } from "@reprise/gate/answer"
import { type EscalationView, isStandalone, RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { showRun } from "../run/showRun.ts"
import { findSession } from "../sessions/findSession.ts"

const run = promisify(execFile)
const shownBytes = 64 * 1024

const clip = (text: string): string => (text.length <= shownBytes ? text : `…\n${text.slice(-shownBytes)}`)

const diff = (directory: string, commit: string | undefined) =>
  Effect.tryPromise(() =>
    run("git", commit === undefined ? ["diff", "HEAD"] : ["show", "--stat", "--patch", "--end-of-options", commit], {
      cwd: directory,
      maxBuffer: 64 * 1024 * 1024
    })
  ).pipe(
    Effect.map(({ stdout }) => (stdout === "" ? "Nothing changed." : stdout)),
    Effect.orElseSucceed(() => `git cannot show ${commit ?? "the changes"} in ${directory}.`)
  )

const logs = (workspace: string, refs: ReadonlyArray<string>) =>
  Effect.forEach(refs, (ref) =>
    Effect.tryPromise(() => readFile(join(workspace, ref), "utf8")).pipe(
      Effect.map((text) => `${ref}:\n${clip(text)}`),
      Effect.orElseSucceed(() => `${ref} is gone.`)
    )
  ).pipe(Effect.map((texts) => (texts.length === 0 ? "No quality gate failed here." : texts.join("\n"))))

/** Where the question's work lies: a run's working tree, or a standalone session's. */
const placeOf = Effect.fnUntraced(function* (question: EscalationView) {
  if (!isStandalone(question)) return yield* showRun(RunId.make(question.runId))
  const { directory } = yield* findSession(question.runId)
  return { directory, workspace: directory }
})

/** The text to show. Never fails: what cannot be shown is said. */
export const lookAt = Effect.fnUntraced(function* (question: EscalationView, what: Look) {
  const view = yield* placeOf(question)
  switch (what) {
    case "diff":
      return clip(yield* diff(view.directory ?? view.workspace, question.evidence.commit))
    case "log":
      return yield* logs(
        view.workspace,
        (question.evidence.gateResults ?? []).map(({ logRef }) => logRef)
      )
    case "transcript":
      return question.evidence.lastLines ?? "The agent has not written anything yet."
    case "attach": {
      const session = question.sessionId ?? question.evidence.sessionId
      return session === undefined
        ? "No session can be attached to here."
        : `'reprise attach ${session}' in another terminal opens the agent's own interface.`
    }
  }
})
