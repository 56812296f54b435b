/** What a human can look at before answering: the diff, the transcript, the quality gates' logs, how to attach. */
import type { Look } from "@reprise/gate/typedAnswer"
import { type EscalationView, isStandalone, type RunId } from "@reprise/protocol"
import { type FileDiff, gateLog, workSince } from "@reprise/workspace/look"
import { Effect } from "effect"
import { findRun, findSession } from "../../system/lookUp/lookUp.ts"
import { visibleLine } from "../../terminal/visible.ts"

const longest = 64 * 1024
/** Enough for so many characters, whatever they are, and one more. */
const longestBytes = 4 * (longest + 1)

const lastPart = (text: string): string => (text.length <= longest ? text : `…\n${text.slice(-longest)}`)
const firstPart = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest)}\n…`)

const titled = (title: string, text: string): ReadonlyArray<string> => (text === "" ? [] : [`${title}:\n${text}`])

/** `why`: as git said it, or why it did not answer. */
export const changesUnknown = (directory: string, why: string, base = "HEAD"): string =>
  `git cannot show the changes since ${base} in ${directory}: ${why.trim().slice(0, 400)}`

/** Longer lists would leave no room for what follows them. */
const mostListed = 200

const listOf = (lines: ReadonlyArray<string>): string =>
  [
    ...lines.slice(0, mostListed),
    ...(lines.length > mostListed ? [`… and ${lines.length - mostListed} more`] : [])
  ].join("\n")

const fileLine = ({ added, from, kinds, path, removed }: FileDiff): string => {
  const lines = kinds.includes("binary") ? [] : [`+${added}`, `-${removed}`]
  const before = from === undefined ? [] : [`from ${visibleLine(from)}`]
  return [visibleLine(path), ...lines, ...kinds, ...before].join(" ")
}

/** Commits, files that git does not know, and what was changed, as one text. */
export const changesSince = (directory: string, base?: string) =>
  workSince(directory, base).pipe(
    Effect.map(({ commits, files, untracked }) => {
      const isCut = files.some(({ isWhole }) => !isWhole)
      const parts = [
        ...titled("Commits", listOf(commits)),
        ...titled("Untracked", listOf(untracked.map(visibleLine))),
        ...titled("Changes", listOf(files.map(fileLine))),
        ...(files.length === 0
          ? []
          : [
              files
                .map(({ text }) => text)
                .join("")
                .trimEnd()
            ]),
        ...(isCut ? ["… and more: git wrote over 32 MB"] : [])
      ]
      return parts.length === 0 ? "Nothing changed." : parts.join("\n\n")
    }),
    Effect.catch((why) => Effect.succeed(changesUnknown(directory, why, base)))
  )

const logTexts = (workspace: string, runId: RunId, refs: ReadonlyArray<string>) =>
  Effect.forEach(refs, (ref) => gateLog(workspace, runId, ref, longestBytes)).pipe(
    Effect.map((logs) => logs.map(({ name, text }) => `${name}:\n${lastPart(text)}`)),
    Effect.map((texts) => (texts.length === 0 ? "No quality gate failed here." : texts.join("\n")))
  )

/** Where the work is: the working tree of a run or of a standalone session. */
export const workOf = Effect.fnUntraced(function* (question: EscalationView) {
  if (!isStandalone(question)) return yield* findRun(question.runId)
  const { directory } = yield* findSession(question.runId)
  return { directory, workspace: directory }
})

/** The words that came with the question, and where the whole conversation is. An agent may have written without them. */
export const transcript = ({ evidence, sessionId }: EscalationView): string => {
  const session = sessionId ?? evidence.sessionId
  const words = evidence.lastLines ?? "No words of the agent came with this question."
  return session === undefined ? words : `${words}\n\n'reprise sessions show ${session}' shows the whole conversation.`
}

/** The text to show; if there is nothing to show, a sentence that says so. */
export const evidenceText = Effect.fnUntraced(function* (question: EscalationView, what: Look) {
  const { directory, workspace } = yield* workOf(question)
  const { authorSessionId, base, gateResults = [], sessionId } = question.evidence
  const session = question.sessionId ?? sessionId
  switch (what) {
    case "diff":
      return firstPart(yield* changesSince(directory ?? workspace, base))
    case "log":
      return yield* logTexts(
        workspace,
        question.runId,
        gateResults.map(({ logRef }) => logRef)
      )
    case "transcript":
      return transcript(question)
    case "attach": {
      const sessions = [session, authorSessionId].filter((id) => id !== undefined)
      return sessions.length === 0
        ? "There is no session to attach to."
        : `${sessions.map((id) => `'reprise attach ${id}'`).join(" or ")} in another terminal opens the agent's own interface.`
    }
  }
})
