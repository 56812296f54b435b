/** What a human can look at from a question without answering it (gate: d, t, l, a). */
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Look } from "@reprise/gate/answer"
import { type EscalationView, isStandalone, RunId } from "@reprise/protocol"
import { Effect } from "effect"
import { gitEnvironment } from "../../project/Project.ts"
import { findSession } from "../../system/findSession.ts"
import { showRun } from "../../system/showRun.ts"

const run = promisify(execFile)
const shownBytes = 64 * 1024

const clip = (text: string): string => (text.length <= shownBytes ? text : `…\n${text.slice(-shownBytes)}`)
const clipEnd = (text: string): string => (text.length <= shownBytes ? text : `${text.slice(0, shownBytes)}\n…`)

const git = (directory: string, ...args: ReadonlyArray<string>) =>
  Effect.tryPromise(() =>
    run("git", args, { cwd: directory, env: gitEnvironment(), maxBuffer: 64 * 1024 * 1024 })
  ).pipe(Effect.map(({ stdout }) => stdout.trimEnd()))

const titled = (title: string, text: string): ReadonlyArray<string> => (text === "" ? [] : [`${title}:\n${text}`])

/** The phase's work so far: its commits, what changed since it began, committed or not, and files that git does not know. */
export const changesSince = (directory: string, base = "HEAD") =>
  Effect.gen(function* () {
    const commits = yield* git(directory, "log", "--oneline", "--no-decorate", "--end-of-options", `${base}..HEAD`)
    const changes = yield* git(directory, "diff", "--stat", "--patch", "--end-of-options", base)
    const unknown = yield* git(directory, "ls-files", "--others", "--exclude-standard")
    const parts = [...titled("Commits", commits), ...titled("Not added", unknown), ...titled("Changes", changes)]
    return parts.length === 0 ? "Nothing changed." : parts.join("\n\n")
  }).pipe(Effect.orElseSucceed(() => `git cannot show the changes since ${base} in ${directory}.`))

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
  const session = question.sessionId ?? question.evidence.sessionId
  switch (what) {
    case "diff":
      return clipEnd(yield* changesSince(view.directory ?? view.workspace, question.evidence.base))
    case "log":
      return yield* logs(
        view.workspace,
        (question.evidence.gateResults ?? []).map(({ logRef }) => logRef)
      )
    case "transcript": {
      const words = question.evidence.lastLines ?? "The agent has not written anything yet."
      return session === undefined ? words : `${words}\n\n'reprise sessions show ${session}' shows all that was said.`
    }
    case "attach":
      return session === undefined
        ? "No session can be attached to here."
        : `'reprise attach ${session}' in another terminal opens the agent's own interface.`
  }
})
