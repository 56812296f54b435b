/** The inputs of a session's life, and tests of its decisions that begin with a history of such inputs. */
import assert from "node:assert/strict"
import { given as givenActor } from "@reprise/actor/testing"
import { Host, Key, noTokens, RunId, type SessionCommand, SessionId, TurnId } from "@reprise/protocol"
import { Result } from "effect"
import { sessionActor } from "../../src/machine/actor.ts"
import { withReportRequest } from "../../src/prompts.ts"
import type { SessionInput, SessionReport, SessionTimer } from "../../src/session/inputs.ts"
import type { JournalEvent } from "../../src/session/journal.ts"
import { SessionWork } from "../../src/session/work.ts"
import { type ActionSettings, defaultActions, defaultSettings, type SessionSettings } from "../../src/settings.ts"

export const actor = sessionActor()

/** The settings that a test changes. */
type Changes = Partial<Omit<SessionSettings, "actions">> & { readonly actions?: Partial<ActionSettings> }
const actorWith = ({ actions, ...changes }: Changes) =>
  sessionActor({ ...defaultSettings, ...changes, actions: { ...defaultActions, ...actions } })
export const key = Key.make("r1-s1")
export const sessionId = SessionId.make("r1-s1")
export const runId = RunId.make("r1")
export const t = (n: number) => TurnId.make(`r1-t${n}`)
export const start = "2026-01-01T00:00:00.000Z"
export const at = (seconds: number) => new Date(Date.parse(start) + seconds * 1000).toISOString()

type Command<Tag extends SessionCommand["_tag"]> = Extract<SessionCommand, { _tag: Tag }>
type Report<Tag extends SessionReport["_tag"]> = Extract<SessionReport, { _tag: Tag }>

const anyTurn = (n: number): Omit<Command<"StartTurn">, "session" | "prompt"> => ({
  _tag: "StartTurn",
  turnId: t(n),
  runId,
  phase: "2",
  step: "EXECUTE",
  role: "author",
  onMissing: "fail",
  runtime: "opencode",
  directory: "/work/repository",
  host: Host.make("h1"),
  permissions: "ask",
  report: "author-status",
  limits: {}
})

export const newTurn = (n: number, more: Partial<Command<"StartTurn">> = {}): Command<"StartTurn"> => ({
  ...anyTurn(n),
  session: { _tag: "New" },
  prompt: "You are the author of phase 2.",
  ...more
})
export const nextTurn = (n: number, more: Partial<Command<"StartTurn">> = {}): Command<"StartTurn"> => ({
  ...anyTurn(n),
  session: { _tag: "Existing", sessionId },
  prompt: "Fix these findings.",
  ...more
})

/** Starts a standalone session. */
export const startAlone: Command<"StartSession"> = {
  _tag: "StartSession",
  sessionId,
  prompt: "x",
  runtime: "opencode",
  directory: "/work",
  host: Host.make("h1"),
  permissions: "ask",
  limits: {}
}

/** A report about the n-th turn of a standalone session, which is its own run. */
export const own = <Input extends { readonly turnId: TurnId }>(n: number, input: Input): Input => ({
  ...input,
  turnId: TurnId.make(`${key}-t${n}`)
})

export const opened = (n: number, runtimeSessionId = "ses_1"): Report<"RecordOpened"> => ({
  _tag: "RecordOpened",
  turnId: t(n),
  runtimeSessionId,
  host: "h1"
})
export const found = (n: number, how: Report<"RecordInspected">["found"] = "usable"): Report<"RecordInspected"> => ({
  _tag: "RecordInspected",
  turnId: t(n),
  found: how,
  messages: 4
})

const spent = { tokens: { ...noTokens, input: 10, output: 2 }, cost: 0.5, calls: 1, attempts: 1, toolCalls: 1 }

/** The result of the n-th turn's `number`-th prompt. */
export const answer = (
  n: number,
  number: number,
  text: string,
  more: Partial<Report<"RecordPromptResult">> = {}
): Report<"RecordPromptResult"> => ({
  _tag: "RecordPromptResult",
  turnId: t(n),
  number,
  ...spent,
  messages: 6,
  lastLines: text,
  text,
  ...more
})
export const stopped = (
  n: number,
  number: number,
  why: Report<"RecordPromptStopped">["why"],
  more: Partial<Report<"RecordPromptStopped">> = {}
): Report<"RecordPromptStopped"> => ({
  _tag: "RecordPromptStopped",
  turnId: t(n),
  number,
  ...spent,
  why,
  ...more
})
export const failed = (
  n: number,
  number: number,
  kind: Report<"RecordPromptFailed">["kind"],
  more: Partial<Report<"RecordPromptFailed">> = {}
): Report<"RecordPromptFailed"> => ({
  _tag: "RecordPromptFailed",
  turnId: t(n),
  number,
  ...spent,
  kind,
  message: `it was ${kind}`,
  sessionUsable: true,
  ...more
})

const fence = "```"
export const goodReport = `Done.\n${fence}json\n{"result":"complete","commit":"abc"}\n${fence}\n`
export const badReport = `${fence}json\n{"result":"finished"}\n${fence}`

/** A whole turn in a new session. */
export const firstTurn: ReadonlyArray<SessionInput> = [
  newTurn(1),
  opened(1),
  answer(1, 1, "I did it."),
  answer(1, 2, goodReport)
]

/** A turn of the standalone session, as its run asks for it. */
export const ownTurn = ({ phase: _phase, step: _step, ...turn }: Command<"StartTurn">): Command<"StartTurn"> => ({
  ...turn,
  turnId: TurnId.make(turn.turnId.replace("r1-", `${key}-`)),
  runId: RunId.make(key)
})
/** The id of what the run of the standalone session sends. */
const fromOwnRun = (n: number | string) => `run.${key}.${n}`

/** The events that the inputs lead to, one second apart. A refused input fails the test. */
export const lived = (inputs: ReadonlyArray<SessionInput>, of = actor): ReadonlyArray<JournalEvent> => {
  const history: Array<JournalEvent> = []
  for (const [index, input] of inputs.entries()) {
    const state = history.reduce(of.evolve, of.initial)
    const outcome = of.decide(state, input, { id: fromOwnRun(index), key, now: at(index) })
    assert.ok(Result.isSuccess(outcome), Result.isFailure(outcome) ? outcome.failure.reason : "")
    history.push(...outcome.success)
  }
  return history
}

/** given(inputs).when(input): like `given` of the actor library, with inputs for events. Decides a minute after the start. */
export const given = (inputs: ReadonlyArray<SessionInput>) => givenOf(inputs, actor)

/** The same with other settings. */
export const givenWith = (changes: Changes) => {
  const of = actorWith(changes)
  return (inputs: ReadonlyArray<SessionInput>) => givenOf(inputs, of)
}

/** The same, and agents report when they are asked, after their work. */
export const givenAsked = givenWith({ report: "asked" })

/** What the session-manager adds to a prompt of the author. */
export const withReport = (prompt: string): string => withReportRequest(prompt, "author-status", "with-work")

/** The same, and the input comes from the run of the standalone session. */
export const givenOwn = (inputs: ReadonlyArray<SessionInput>) => {
  const { state, when } = given(inputs)
  return { state, when: (input: SessionInput) => when(input, at(60), fromOwnRun("message")) }
}

const givenOf = (inputs: ReadonlyArray<SessionInput>, of: typeof actor) => {
  const base = givenActor(of, SessionWork)(lived(inputs, of))
  return {
    state: base.state,
    when: (input: SessionInput, now = at(60), id = "message-1") => {
      const outcome = base.when(input, { key, now, id })
      const events = Result.getOrElse(outcome.outcome, (): ReadonlyArray<JournalEvent> => [])
      return {
        ...outcome,
        events,
        types: events.map((event) => event._tag),
        event: <Tag extends JournalEvent["_tag"]>(tag: Tag) => {
          const one = events.find((event): event is Extract<JournalEvent, { _tag: Tag }> => event._tag === tag)
          assert.ok(one, `no ${tag} among ${events.map((event) => event._tag).join(", ") || "no events"}`)
          return one
        },
        work: outcome.sent.flatMap((one) =>
          one._tag === "RequestWork" ? [{ ...one, work: one.work as SessionWork }] : []
        ),
        timers: outcome.sent.flatMap((one) =>
          one._tag === "SetTimer" ? [{ ...one, command: one.command as SessionTimer }] : []
        )
      }
    }
  }
}
