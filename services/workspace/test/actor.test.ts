import { assert, describe, it } from "@effect/vitest"
import type { Delivery } from "@reprise/actor"
import { given } from "@reprise/actor/testing"
import { Host, type WorkspaceCommand } from "@reprise/protocol"
import { workspaceActor } from "../src/actor/actor.ts"
import type { WorkspaceFact } from "../src/actor/inputs.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import type { Place } from "../src/actor/work.ts"
import { finish, gates, prepareIn, runId } from "./support/commands.ts"

const workspace = given(workspaceActor)
const h1 = Host.make("h1")
const place: Place = { host: h1, root: "/repo", directory: "/repo", leaseId: "l1", tolerated: [] }
const by = (id: string): Delivery => ({ id, key: runId, now: "2026-01-01T00:00:00.000Z" })

const prepare = prepareIn("/repo")
const prepared: WorkspaceFact = { _tag: "WorkspacePrepared", runId, host: h1, directory: "/repo", head: "abcd" }
const refused: WorkspaceFact = { _tag: "WorkspaceRefused", runId, kind: "dirty-tree", reason: "dirty" }
const released: WorkspaceFact = { _tag: "WorkspaceReleased", runId }
const failed: WorkspaceFact = { _tag: "WorkspaceFailed", runId, operation: "FinishPhase", reason: "no disk" }
const release = (outcome: "completed" | "failed" | "aborted"): WorkspaceCommand => ({
  _tag: "ReleaseWorkspace",
  runId,
  outcome
})
const report = (requestId: string, event: WorkspaceFact, at?: Place) =>
  ({ _tag: "Report", runId, requestId, event, ...(at === undefined ? {} : { place: at }) }) as const

const requested = (requestId: string, command: WorkspaceCommand): JournalEvent => ({
  _tag: "Requested",
  requestId,
  command
})
const started = (requestId: string): JournalEvent => ({ _tag: "Started", requestId })
const reported = (requestId: string, event: WorkspaceFact, at?: Place): JournalEvent => ({
  _tag: "Reported",
  requestId,
  event,
  ...(at === undefined ? {} : { place: at })
})

const isPrepared = [requested("m1", prepare), started("m1"), reported("m1", prepared, place)]
const isBusy = [...isPrepared, requested("m2", gates(["true"])), started("m2")]
const isReleased = [...isPrepared, requested("m2", release("failed")), started("m2"), reported("m2", released)]

describe("a request to a workspace", () => {
  it("goes to any host if it prepares, or to the host that it names", () => {
    const first = workspace([]).when(prepare, by("m1"))
    first.then([requested("m1", prepare), started("m1")])
    assert.containSubset(first.sent, [
      { _tag: "RequestWork", host: "any", work: { _tag: "DoRequest", requestId: "m1", command: prepare } }
    ])
    assert.containSubset(workspace([]).when({ ...prepare, host: Host.make("h9") }, by("m1")).sent, [{ host: "h9" }])
  })

  it("goes to the host that has the files, with their place, once the workspace is prepared", () => {
    const { sent } = workspace(isPrepared).when(finish(), by("m2"))
    assert.containSubset(sent, [
      { _tag: "RequestWork", host: "h1", work: { requestId: "m2", command: finish(), place } }
    ])
  })

  it("waits until the request before it is reported", () => {
    const waiting = workspace(isBusy).when(finish(), by("m3"))
    waiting.then([requested("m3", finish())])
    waiting.sends([])
    const next = workspace([...isBusy, requested("m3", finish())]).when(report("m2", failed), by("x"))
    next.then([reported("m2", failed), started("m3")])
    assert.containSubset(next.sent, [
      { _tag: "PublishEvent", event: failed },
      { _tag: "RequestWork", work: { requestId: "m3" } }
    ])
  })

  it.each([
    ["before the workspace is prepared", []],
    ["while it is being prepared", isPrepared.slice(0, 2)],
    ["after it was refused", [...isPrepared.slice(0, 2), reported("m1", refused)]],
    ["after it was released", isReleased]
  ] as const)("is refused %s", (_, history) => {
    workspace(history)
      .when(finish(), by("m9"))
      .refused(/is not prepared yet|was released/)
  })

  it("is refused when its body names another run than its subject", () => {
    workspace([])
      .when(prepare, { ...by("m1"), key: "r2" })
      .refused(/must be the same/)
  })
})

describe("the report of a request", () => {
  it("is published, and completes the request", () => {
    const done = workspace(isPrepared.slice(0, 2)).when(report("m1", prepared, place), by("x"))
    done.then([reported("m1", prepared, place)])
    done.sends([{ _tag: "PublishEvent", event: prepared }])
    assert.deepStrictEqual(workspaceActor.view?.(done.state) as unknown, {
      runId,
      status: "active",
      host: "h1",
      root: "/repo",
      directory: "/repo",
      requests: []
    })
  })

  it.each([
    ["repeated", isPrepared, "m1"],
    ["of a request that still waits", [...isBusy, requested("m3", finish())], "m3"],
    ["of a request that nobody made", isPrepared, "m7"]
  ])("is refused as late when it is %s", (_, history, requestId) => {
    workspace(history)
      .when(report(requestId, failed), by("x"))
      .refused(/is late and changes nothing/)
  })

  it("lets the next request start even if it is a failure", () => {
    workspace([...isBusy, reported("m2", failed)])
      .when(finish(), by("m3"))
      .then([requested("m3", finish()), started("m3")])
  })

  it("may be followed by preparing the workspace again, even after its release", () => {
    for (const history of [isPrepared, isReleased]) {
      const again = workspace(history).when(prepare, by("m5"))
      again.then([requested("m5", prepare), started("m5")])
      assert.containSubset(again.sent, [{ host: "h1", work: { place } }])
    }
  })
})

describe("releasing a workspace", () => {
  it("waits for earlier requests when the run is over", () => {
    workspace(isBusy)
      .when(release("completed"), by("m3"))
      .then([requested("m3", release("completed"))])
  })

  it("goes before waiting requests, and stops the current one, when the run was aborted", () => {
    const history = [...isBusy, requested("m3", finish())]
    const overtaking = workspace(history).when(release("aborted"), by("m4"))
    overtaking.then([
      { _tag: "Dropped", requestIds: ["m3"] },
      { _tag: "CancelAsked", requestId: "m2" },
      requested("m4", release("aborted"))
    ])
    assert.containSubset(overtaking.sent, [
      { _tag: "RequestWork", host: "h1", work: { _tag: "CancelRequest", requestId: "m2" } }
    ])
    assert.containSubset(workspaceActor.view?.(overtaking.state), { requests: ["m2", "m4"], cancelled: "m2" })
    const next = given(workspaceActor)([
      ...history,
      { _tag: "Dropped", requestIds: ["m3"] },
      { _tag: "CancelAsked", requestId: "m2" },
      requested("m4", release("aborted"))
    ]).when(report("m2", failed), by("x"))
    next.then([reported("m2", failed), started("m4")])
    assert.notProperty(workspaceActor.view?.(next.state), "cancelled")
  })

  it("waits until preparing has ended, and releases its result", () => {
    const history = [...isPrepared.slice(0, 2), requested("m2", release("aborted"))]
    workspace(isPrepared.slice(0, 2))
      .when(release("aborted"), by("m2"))
      .then([requested("m2", release("aborted"))])
    workspace(history)
      .when(report("m1", prepared, place), by("x"))
      .then([reported("m1", prepared, place), started("m2")])
    const unused = workspace(history).when(report("m1", refused), by("x"))
    unused.then([reported("m1", refused), { _tag: "ReleasedUnused", runId }])
    assert.containSubset(unused.published, [refused, released])
  })

  it("happens at once when nothing was prepared, and only once when it is requested twice", () => {
    const unused = workspace([]).when(release("failed"), by("m1"))
    unused.then([{ _tag: "ReleasedUnused", runId }])
    unused.sends([{ _tag: "PublishEvent", event: released }])
    workspace(isReleased).when(release("failed"), by("m9")).then([])
    workspace([...isBusy, requested("m3", release("failed"))])
      .when(release("aborted"), by("m4"))
      .then([])
  })

  it("frees the lease when the run ends without a release", () => {
    const ends = [
      { _tag: "RunCompleted", runId },
      { _tag: "RunAborted", runId, reason: "no time" }
    ] as const
    for (const end of ends) {
      const ended = workspace(isPrepared).when(end, by("e1"))
      ended.then([{ _tag: "RunEnded", runId }])
      ended.sends([{ _tag: "RequestWork", host: h1, work: { _tag: "FreeLease", runId, place } as never }])
    }
    workspace([...isPrepared, { _tag: "RunEnded", runId }])
      .when({ _tag: "RunCompleted", runId }, by("e2"))
      .then([])
    workspace(isReleased).when({ _tag: "RunFailed", runId, reason: "x" }, by("e1")).then([])
    workspace([]).when({ _tag: "RunCompleted", runId }, by("e1")).then([])
  })

  it("follows from the ends of runs and from no other event", () => {
    assert.deepStrictEqual(workspaceActor.subscription?.types as unknown, ["RunCompleted", "RunFailed", "RunAborted"])
    assert.strictEqual(workspaceActor.subscription?.route({ _tag: "RunAborted", runId, reason: "" }), runId)
    // @ts-expect-error: a pause is none of its inputs
    assert.isUndefined(workspaceActor.subscription?.route({ _tag: "RunPaused", runId }))
  })
})
