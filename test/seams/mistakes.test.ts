/**
 * Thirteen mistakes at the seams between services, libraries and runtimes. Eleven do not compile: each `@ts-expect-error`
 * fails the type check once its line compiles. Two compile, and tests notice them:
 * - A failure of a wrong kind, such as `timeout` for `turn-limit`. Both are kinds of one list, and which one is right is
 *   what the session-manager decides (services/session-manager/test/promptLimits.test.ts).
 * - Two durations swapped, such as `sessions.expireAfterMs` for `sessions.idleAfterMs`. Both are durations. The command
 *   line hands them on by their names, so nobody writes them a second time (cli/test/config.test.ts).
 */
import { assert, describe, it } from "@effect/vitest"
import { refusing, send } from "@reprise/actor"
import type { AgentRuntimeShape } from "@reprise/agent"
import {
  EscalationId,
  PhaseId,
  RunId,
  type RuntimeId,
  reviewerTurnIdOf,
  reviewKey,
  SessionId,
  to
} from "@reprise/protocol"
import { defaultSettings, type SessionSettings } from "@reprise/session-manager/settings"
import { Duration } from "effect"
import type { WrittenEntry } from "../../libs/actor/src/runtime/ActorMemory.ts"
import { type Ages, defaultAges } from "../../libs/nats/src/streams.ts"
import type { Reactions } from "../../services/orchestrator/src/run/family.ts"
import type { EventOf } from "../../services/orchestrator/src/run/journal.ts"

const runId = RunId.make("r1")
const phase = PhaseId.make("1")
const sessionId = SessionId.make("r1-s1")
const runtimeId: RuntimeId = "ses_1"

describe("a mistake at a seam does not compile", () => {
  it("in whom a command is for", () => {
    // @ts-expect-error: the id of a run in place of the key of a reviewer
    assert.isObject(to.reviewer(runId))
    // @ts-expect-error: a session's id as a runtime knows it in place of ours
    assert.isObject(to.sessionManager(runtimeId))
    // @ts-expect-error: a command of the workspace, sent to the gate
    assert.isUndefined(to.gate(EscalationId.make("e1")).VerifyCommit)
    assert.isObject(to.reviewer(reviewKey(runId, phase)))
  })

  it("in what a message says", () => {
    // @ts-expect-error: a misspelt field
    assert.isObject(to.sessionManager(sessionId).ReplyToPrompt({ promtId: "p", reply: "once" }))
    // @ts-expect-error: a code of the workspace's refusals, in the gate
    assert.isDefined(refusing("gate")("dirty-tree", "No."))
  })

  it("in what is sent for an event of the journal", () => {
    // @ts-expect-error: a session that is released is completed, and does not expire
    const sent: ReturnType<Reactions["SessionReleased"]> = [send(to.sessionManager(sessionId).ExpireSession())]
    assert.lengthOf(sent, 1)
  })

  it("in what is sent before it is journalled", () => {
    const entry: WrittenEntry["entry"] = {
      ...{ input: { id: "m1", type: "Add" }, at: "2026-01-01T00:00:00.000Z", run: "r1", traceparent: "", events: [] },
      outgoing: []
    }
    // @ts-expect-error: only a broker gives the place of an entry, once it has stored it
    const written: WrittenEntry = { entry, sequence: 8 }
    assert.isObject(written)
  })

  it("in whose turn it is", () => {
    // @ts-expect-error: a turn of the reviewer in place of the author's
    const turnId: EventOf<"TurnBroke">["turnId"] = reviewerTurnIdOf(runId, phase, 1)
    assert.isString(turnId)
  })

  it("in which session a runtime is to look at", () => {
    // @ts-expect-error: our id of a session in place of the runtime's
    const inspected: Parameters<AgentRuntimeShape["inspect"]> = [sessionId]
    assert.isArray(inspected)
  })

  it("in how long something takes", () => {
    // @ts-expect-error: 300 seconds or milliseconds: a number says no unit
    const settings: SessionSettings = { ...defaultSettings, idleAfter: 300 }
    // @ts-expect-error: what was decided is kept until somebody removes it
    const ages: Ages = { ...defaultAges, journal: Duration.days(30) }
    assert.isOk([settings, ages])
  })
})
