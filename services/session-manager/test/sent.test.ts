/** All that a session sends, step by step: nothing more, nothing less, and no field that nobody gave. */

import { assert, describe, it } from "@effect/vitest"
import { noUsage } from "@reprise/protocol"
import { Duration } from "effect"
import type { SessionInput } from "../src/session/inputs.ts"
import { defaultSettings } from "../src/settings.ts"
import {
  actor,
  answer,
  at,
  failed,
  found,
  given,
  goodReport,
  newTurn,
  nextTurn,
  opened,
  runId,
  sessionId,
  t
} from "./support/story.ts"

/** What is sent for an input a minute after the start; of its prompts that there is a text, and ids. */
const sentFor = (inputs: ReadonlyArray<SessionInput>, input: SessionInput): ReadonlyArray<unknown> =>
  given(inputs)
    .when(input)
    .sent.map((one) => {
      if (one._tag === "PublishEvent") return one.event
      if (one._tag === "SetTimer") return { at: one.dueAt, ...one.command }
      if (one._tag !== "RequestWork") return one
      const { identity, text, ...work } = one.work as unknown as Record<string, unknown>
      return { ...work, host: one.host, ...(identity === undefined ? {} : { prompted: `${text}`.length > 0 }) }
    })

const session = { runId, sessionId, role: "author", phase: "2", step: "EXECUTE" }
const onRuntime = { runtime: "opencode", directory: "/work/repository", runtimeSessionId: "ses_1" }
const host = "h1"
const begun = [newTurn(1), opened(1)]
const done = [...begun, answer(1, 1, goodReport)]
const again = [...done, nextTurn(2)]
const spent = { tokens: { input: 10, output: 2, reasoning: 0, cacheRead: 0, cacheWrite: 0 }, cost: 0.5, calls: 1 }
const save = { _tag: "SaveNewMessages", ...onRuntime, object: "session/r1-s1/ses_1", host }
const archive = {
  _tag: "SaveTranscript",
  ...onRuntime,
  object: "session/r1-s1/ses_1",
  stop: false,
  usedEarlier: noUsage,
  host
}
const pause = { at: at(60 + Duration.toSeconds(defaultSettings.idleAfter)), _tag: "PauseIdle" }
const prompt = {
  ...{ _tag: "RunPrompt", turnId: t(1), number: 1, kind: "work", ...onRuntime, ...session, permissions: "ask" },
  ...{ limits: {}, usedBefore: noUsage, counted: noUsage, turnStartedAt: at(0), turnWaitedMs: 0, host, prompted: true },
  saving: { object: "session/r1-s1/ses_1", since: at(0) }
}
const { sessionId: _, ...firstPrompt } = prompt
const asked: SessionInput = {
  ...{ _tag: "RecordAgentQuestion", promptId: "p1", kind: "permission", text: "May I?" },
  options: [{ name: "once", label: "Once" }]
}
const working = {
  ...{ _tag: "AgentWorking", ...session, turnId: t(1), cause: "human" },
  evidence: "its question p1 was answered"
}
const saved: SessionInput = {
  ...{ _tag: "RecordSaved", object: "session/r1-s1/ses_1/1", messages: 6, digest: "d", readAt: at(3) }
}
const unreachable = (n: number) => ({ _tag: "RecordUnreachable", turnId: t(n), kind: "gone", message: "x" }) as const
const named = { model: "m", variant: "high", title: "Phase 2", reviewPath: "review.md" }
const open = {
  ...{ _tag: "OpenSession", turnId: t(1), runtime: "opencode", directory: "/work/repository", permissions: "ask" },
  ...{ role: "author", host }
}

describe("a step of a session", () => {
  it.each<readonly [string, ReadonlyArray<SessionInput>, SessionInput, ReadonlyArray<object>]>([
    [
      "opens one with what the turn names",
      [],
      newTurn(1, named),
      [{ ...open, model: "m", title: "Phase 2", uncommitted: { reviewPath: "review.md" } }]
    ],
    [
      "opens a reviewer's without checking what is uncommitted",
      [],
      newTurn(1, { role: "reviewer", title: "x" }),
      [{ ...open, role: "reviewer", title: "x" }]
    ],
    [
      "gives the first prompt when it is open",
      [newTurn(1)],
      opened(1),
      [
        { _tag: "SessionCreated", ...session, turnId: t(1), runtime: "opencode", runtimeSessionId: "ses_1" },
        { _tag: "TurnStarted", ...session, turnId: t(1) },
        firstPrompt
      ]
    ],
    [
      "names the model and its variant with the prompt",
      [newTurn(1, named)],
      opened(1),
      [
        {
          _tag: "SessionCreated",
          ...session,
          turnId: t(1),
          runtime: "opencode",
          runtimeSessionId: "ses_1"
        },
        { _tag: "TurnStarted", ...session, turnId: t(1) },
        { ...firstPrompt, model: "m", variant: "high" }
      ]
    ],
    ["tells what its agent asks", begun, asked, [{ ...asked, _tag: "AgentPrompting", ...session, turnId: t(1) }]],
    [
      "hands a reply on",
      [...begun, asked],
      { _tag: "ReplyToPrompt", sessionId, promptId: "p1", reply: "once" },
      [{ _tag: "SendReply", ...onRuntime, promptId: "p1", kind: "permission", reply: "once", host }, working]
    ],
    [
      "hands on what was said with a reply",
      [...begun, asked],
      { _tag: "ReplyToPrompt", sessionId, promptId: "p1", reply: "once", message: "this time" },
      [
        {
          _tag: "SendReply",
          ...onRuntime,
          promptId: "p1",
          kind: "permission",
          reply: "once",
          message: "this time",
          host
        },
        working
      ]
    ],
    [
      "saves what was said, and may rest, after a turn",
      begun,
      answer(1, 1, goodReport),
      [
        {
          ...{ _tag: "TurnCompleted", ...session, turnId: t(1), report: "author-status", ...spent, attempts: 1 },
          ...{ status: { result: "complete", commit: "abc" }, duration: 60_000, lastLines: goodReport }
        },
        save,
        { ...pause, useCount: 4 }
      ]
    ],
    [
      "looks at the session before it is used again",
      done,
      nextTurn(2),
      [{ _tag: "InspectSession", turnId: t(2), ...onRuntime, host }]
    ],
    [
      "tells that it is used again",
      again,
      found(2),
      [
        { _tag: "SessionReused", ...session, turnId: t(2), runtimeSessionId: "ses_1", reason: "continue" },
        { _tag: "TurnStarted", ...session, turnId: t(2) },
        {
          ...{ ...firstPrompt, turnId: t(2), counted: spent, turnStartedAt: at(3) },
          saving: { object: "session/r1-s1/ses_1", since: at(3) }
        }
      ]
    ],
    [
      "saves and rests when it is paused",
      done,
      { _tag: "PauseIdle", useCount: 4 },
      [
        { _tag: "SessionPaused", ...session },
        save,
        {
          at: at(60 + Duration.toSeconds(defaultSettings.expireHeldAfter)),
          _tag: "ExpireIdle",
          useCount: 4,
          held: true
        }
      ]
    ],
    [
      "archives what is complete",
      done,
      { _tag: "CompleteSession", sessionId },
      [{ _tag: "SessionCompleted", ...session }, archive]
    ],
    [
      "archives what has expired",
      done,
      { _tag: "ExpireSession", sessionId },
      [{ _tag: "SessionExpired", ...session }, archive]
    ],
    [
      "saves only what was said since it was saved last, as long as the runtime session is the same",
      [...done, saved],
      { _tag: "PauseIdle", useCount: 4 },
      [
        { _tag: "SessionPaused", ...session },
        { ...save, saved: { object: "session/r1-s1/ses_1/1", messages: 6, digest: "d" } },
        {
          at: at(60 + Duration.toSeconds(defaultSettings.expireHeldAfter)),
          _tag: "ExpireIdle",
          useCount: 4,
          held: true
        }
      ]
    ],
    [
      "saves all of a conversation of which nobody knows how much is saved",
      [...done, { _tag: "RecordArchived", object: "session/r1-s1/ses_1", messages: 6 }],
      { _tag: "PauseIdle", useCount: 4 },
      [
        { _tag: "SessionPaused", ...session },
        save,
        {
          at: at(60 + Duration.toSeconds(defaultSettings.expireHeldAfter)),
          _tag: "ExpireIdle",
          useCount: 4,
          held: true
        }
      ]
    ],
    [
      "tells the session that replaces a lost one what was saved, and looks at what it left uncommitted",
      [...done, saved, nextTurn(2, { onMissing: "reconstruct" })],
      found(2, "missing"),
      [{ ...open, turnId: t(2), title: "author of r1", transcript: "session/r1-s1/ses_1/1", uncommitted: {} }]
    ],
    [
      "archives once what its agent said when turn and session fail together",
      again,
      { ...unreachable(2), forGood: true },
      [
        {
          ...{ _tag: "TurnFailed", ...session, turnId: t(2), kind: "gone", message: "x", sessionUsable: false },
          ...{ sessionEnded: true, promptGiven: false, ...noUsage, duration: 57_000, attempts: 1 }
        },
        { _tag: "SessionFailed", ...session, reason: "x" },
        archive
      ]
    ],
    [
      "has nothing to archive when it never opened",
      [newTurn(1)],
      unreachable(1),
      [
        { _tag: "AgentGone", ...session, turnId: t(1) },
        {
          ...{ _tag: "TurnFailed", ...session, turnId: t(1), kind: "gone", message: "x", sessionUsable: false },
          ...{ sessionEnded: true, promptGiven: false, ...noUsage, duration: 60_000, attempts: 1 }
        }
      ]
    ],
    [
      "hands a reply on to the question that it answers, whichever is older",
      [...begun, asked, { ...asked, promptId: "p2", text: "And this?" }],
      { _tag: "ReplyToPrompt", sessionId, promptId: "p2", reply: "once" },
      [
        { _tag: "SendReply", ...onRuntime, promptId: "p2", kind: "permission", reply: "once", host },
        { ...working, evidence: "its question p2 was answered" }
      ]
    ],
    [
      "stops its agent when it is aborted during a turn, of which nobody waits to hear any more",
      begun,
      { _tag: "AbortSession", sessionId, reason: "x" },
      [
        {
          ...{ _tag: "TurnFailed", ...session, turnId: t(1), kind: "aborted", message: "x", sessionUsable: false },
          ...{ sessionEnded: true, ...noUsage, duration: 60_000, attempts: 1 }
        },
        { _tag: "SessionAborted", ...session, turnId: t(1), reason: "x" },
        { _tag: "InterruptSession", ...onRuntime, host },
        { ...archive, stop: true }
      ]
    ],
    [
      "stops its agent when it is aborted, and archives what was said",
      done,
      { _tag: "AbortSession", sessionId, reason: "x" },
      [
        { _tag: "SessionAborted", ...session, reason: "x" },
        { _tag: "InterruptSession", ...onRuntime, host },
        { ...archive, stop: true }
      ]
    ]
  ])("%s", (_title, history, input, expected) => {
    assert.deepStrictEqual(sentFor(history, input), expected)
  })

  it("stops a turn with the prompt that runs, and ends one at once that has none", () => {
    const stop = (n: number): SessionInput => ({ _tag: "InterruptTurn", sessionId, turnId: t(n), reason: "stop" })
    const [during] = given(begun).when(stop(1)).sent
    assert.containSubset(during, { work: { _tag: "InterruptSession", turnId: t(1) } })
    const { text } = (during as { readonly work?: { readonly text?: string } } | undefined)?.work ?? {}
    assert.match(`${text}`, /^You are the author of phase 2/)
    assert.deepStrictEqual(sentFor(again, stop(2)), [
      {
        ...{ _tag: "TurnFailed", ...session, turnId: t(2), kind: "aborted", message: "stop", sessionUsable: true },
        ...{ promptGiven: false, ...noUsage, duration: 57_000, attempts: 1 }
      },
      save,
      { ...pause, useCount: 6 }
    ])
  })
})

describe("the view of a session, complete", () => {
  it("has no field that nobody gave", () => {
    const first = {
      ...{
        sessionId,
        runId,
        role: "author",
        phase: "2",
        ...{ runtime: "opencode", directory: "/work/repository", host }
      },
      ...{ turns: 0, messages: 0, toolCalls: 0, refusals: 0, ...noUsage, permissions: "ask" }
    }
    assert.deepStrictEqual<unknown>(actor.view?.(given([newTurn(1)]).state), {
      ...first,
      ...{ status: "requested", turnId: t(1), createdAt: at(0), lastActivityAt: at(0), heldBy: "turn" }
    })
    const failedOnce = given([...begun, failed(1, 1, "timeout", { sessionUsable: false })]).state
    assert.notProperty(actor.view?.(failedOnce), "turnId")
    assert.isUndefined(actor.view?.(actor.initial))
    assert.isUndefined(actor.runOf(actor.initial))
    assert.strictEqual(actor.runOf(failedOnce), runId)
  })
})
