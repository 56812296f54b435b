/** Mistakes that the compiler finds: each `@ts-expect-error` fails the type check when its line compiles. */
import { assert, describe, it } from "@effect/vitest"
import type { FailureKind } from "@reprise/protocol"
import { triggerOf } from "../src/session/actions.ts"
import { refuse } from "../src/session/guards.ts"
import type { SessionInput } from "../src/session/inputs.ts"
import type { EventOf } from "../src/session/journal.ts"
import type { SessionWork } from "../src/session/work.ts"
import { failed, t } from "./support/story.ts"

describe("the session-manager does not compile with", () => {
  it("a misspelt kind of failure", () => {
    // @ts-expect-error the kind is rate_limited
    const kind: FailureKind = "rate-limited"
    // @ts-expect-error the kind is session-missing
    assert.strictEqual(failed(1, 1, "session_missing").kind, "session_missing")
    // @ts-expect-error a limit does not trigger an action
    assert.strictEqual(triggerOf("timeout"), "error.timeout")
    assert.strictEqual(kind, "rate-limited")
  })

  it("an unknown code of a refusal", () => {
    // @ts-expect-error the code is not-found
    assert.strictEqual(refuse("missing", "There is no session.")._tag, "Failure")
  })

  it("a report, an event or a piece of work with a misspelt name or field", () => {
    // @ts-expect-error the report is RecordWorking
    const report: SessionInput = { _tag: "RecordWorks", turnId: t(1), number: 1, evidence: "text" }
    // @ts-expect-error the field is turnId
    const event: Pick<EventOf<"PromptRetried">, "turnID"> = { turnID: t(1) }
    // @ts-expect-error the work is SaveTranscript
    const work: SessionWork["_tag"] = "SaveTranscripts"
    assert.isOk([report, event, work])
  })
})
