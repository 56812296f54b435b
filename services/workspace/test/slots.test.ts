/** Which runs a host has at work, and how many more it may take. */
import { assert, describe, it } from "@effect/vitest"
import { anyHost, Host, RunId, type WorkspaceView } from "@reprise/protocol"
import { Result } from "effect"
import { heldBy, readLease } from "../src/work/leases/lease.ts"
import {
  type AtWork,
  ended,
  freeSlots,
  isHere,
  looked,
  nothingAtWork,
  taken,
  usedSlots
} from "../src/work/slots/AtWork.ts"
import { runLimit } from "../src/work/slots/runLimit.ts"

const host = Host.make("h1")
const [r1, r2, r3] = [RunId.make("r1"), RunId.make("r2"), RunId.make("r3")]
const none: ReadonlySet<string> = new Set()
const found = (...runs: ReadonlyArray<RunId>): AtWork => ({ ...nothingAtWork, found: new Set(runs) })

describe("how many runs a host may have at work", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["0", undefined],
    ["4", 4]
  ])("is what REPRISE_HOST_RUNS says, and any number without it: %j", (text, limit) => {
    assert.deepStrictEqual(runLimit({ REPRISE_HOST_RUNS: text }), Result.succeed(limit))
  })

  it.each(["four", "-1", "2.5", " 4", "1e3", "9999999"])("must be a whole number: %j", (text) => {
    const refused = runLimit({ REPRISE_HOST_RUNS: text })
    assert.match(Result.isFailure(refused) ? refused.failure : "", /^REPRISE_HOST_RUNS is '.*': it must be a whole/)
  })
})

describe("the slots of a host", () => {
  it.each([
    ["nothing at work", nothingAtWork, none, 2],
    ["a run from before a restart", found(r1), none, 1],
    ["a run that was just taken", taken(nothingAtWork, r1), none, 1],
    ["a run that is found and taken again", taken(found(r1), r1), none, 1],
    ["a run whose files are here and that is prepared again", found(r1), new Set([r1]), 1],
    ["one at work and another that is prepared", found(r1), new Set([r2]), 0],
    ["a run that has ended", ended(taken(found(r1), r1), r1), none, 2],
    ["more runs than the limit, as when it was lowered", found(r1, r2, r3), none, 0]
  ] as const)("count each run once: %s", (_title, atWork, preparing, free) => {
    assert.strictEqual(freeSlots(2, atWork, preparing), free)
    assert.isAtLeast(usedSlots(atWork, preparing) + free, 2)
  })

  it("are kept by a run that was just taken until its actor must have heard", () => {
    const just = taken(nothingAtWork, r1)
    const once = looked(just, new Set())
    assert.strictEqual(usedSlots(once, none), 1)
    assert.strictEqual(usedSlots(looked(once, new Set()), none), 0, "its files are elsewhere: nobody frees this lease")
    assert.strictEqual(usedSlots(looked(once, new Set([r1])), none), 1)
  })

  it.each([
    ["active here", { status: "active", host }, true],
    ["on another host, which the run was moved to", { status: "active", host: Host.make("h2") }, false],
    ["nowhere until a host takes it", { status: "preparing", host: anyHost }, false]
  ] as const)("are used by runs whose files are here: %s", (_title, view, here) => {
    assert.strictEqual(isHere({ runId: r1, requests: [], ...view } satisfies WorkspaceView, host), here)
  })

  it("are not used by a run that nobody knows", () => {
    assert.isFalse(isHere(undefined, host))
  })

  it.each([
    ["of this host", { host: "h1", free: false }, [r1]],
    ["of another host", { host: "h2", free: false }, []],
    ["that was given back", { host: "h1", free: true }, []]
  ])("are found by the leases %s", (_title, lease, runs) => {
    const stored = JSON.stringify({ runId: r1, directory: "/a", renewedAt: "2026-01-01T00:00:00.000Z", ...lease })
    assert.deepStrictEqual(heldBy(readLease(stored), host), runs)
  })

  it("are not found by a lease that cannot be read", () => {
    assert.deepStrictEqual(heldBy(readLease("{}"), host), [])
  })
})
