import { assert, describe, it } from "@effect/vitest"
import type { Delivery } from "@reprise/actor"
import { given } from "@reprise/actor/testing"
import { Host, type WorkspaceCommand } from "@reprise/protocol"
import type { Place, WorkspaceFact, WorkspaceJournal } from "../src/domain/messages.ts"
import { workspaceActor } from "../src/domain/workspaceActor.ts"
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

const requested = (requestId: string, command: WorkspaceCommand): WorkspaceJournal => ({
  _tag: "Requested",
  requestId,
  command
})
const started = (requestId: string): WorkspaceJournal => ({ _tag: "Started", requestId })
const reported = (requestId: string, event: WorkspaceFact, at?: Place): WorkspaceJournal => ({
  _tag: "Reported",
  requestId,
  event,
  ...(at === undefined ? {} : { place: at })
})

const isPrepared = [requested("m1", prepare), started("m1"), reported("m1", prepared, place)]
const isBusy = [...isPrepared, requested("m2", gates(["true"])), started("m2")]
const isReleased = [...isPrepared, requested("m2", release("failed")), started("m2"), reported("m2", released)]

describe("asking", () => {
  it("asks any host to prepare, or the one that is named", () => {
    const first = workspace([]).when(prepare, by("m1"))
    first.then([requested("m1", prepare), started("m1")])
    assert.containSubset(first.sent, [
      { _tag: "RequestWork", host: "any", work: { _tag: "DoRequest", requestId: "m1", command: prepare } }
    ])
    assert.containSubset(workspace([]).when({ ...prepare, host: Host.make("h9") }, by("m1")).sent, [{ host: "h9" }])
  })

  it("sends everything after that to the host that has the files, with the place", () => {
    const { sent } = workspace(isPrepared).when(finish(), by("m2"))
    assert.containSubset(sent, [
      { _tag: "RequestWork", host: "h1", work: { requestId: "m2", command: finish(), place } }
    ])
  })

  it("lets a request wait until the one before it is reported", () => {
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
  ] as const)("refuses work %s", (_, history) => {
    workspace(history)
      .when(finish(), by("m9"))
      .refused(/is not prepared yet|was released/)
  })

  it("refuses a message whose run is not its subject's", () => {
    workspace([])
      .when(prepare, { ...by("m1"), key: "r2" })
      .refused(/must be the same/)
  })
})

describe("reporting", () => {
  it("publishes what came of a request", () => {
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
    ["a second report", isPrepared, "m1"],
    ["a report of a request that waits", [...isBusy, requested("m3", finish())], "m3"],
    ["a report of a request that nobody made", isPrepared, "m7"]
  ])("refuses %s as late", (_, history, requestId) => {
    workspace(history)
      .when(report(requestId, failed), by("x"))
      .refused(/is late: it changes nothing/)
  })

  it("goes on after a failure", () => {
    workspace([...isBusy, reported("m2", failed)])
      .when(finish(), by("m3"))
      .then([requested("m3", finish()), started("m3")])
  })

  it("may be prepared again, also after its release", () => {
    for (const history of [isPrepared, isReleased]) {
      const again = workspace(history).when(prepare, by("m5"))
      again.then([requested("m5", prepare), started("m5")])
      assert.containSubset(again.sent, [{ host: "h1", work: { place } }])
    }
  })
})

describe("releasing", () => {
  it("waits for what was asked before when the run is over", () => {
    workspace(isBusy)
      .when(release("completed"), by("m3"))
      .then([requested("m3", release("completed"))])
  })

  it("goes before what waits, and gives up what is being done, when the run was aborted", () => {
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

  it("lets preparing end first, and releases what it gave", () => {
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

  it("is done at once when nothing was prepared, and once when asked twice", () => {
    const unused = workspace([]).when(release("failed"), by("m1"))
    unused.then([{ _tag: "ReleasedUnused", runId }])
    unused.sends([{ _tag: "PublishEvent", event: released }])
    workspace(isReleased).when(release("failed"), by("m9")).then([])
    workspace([...isBusy, requested("m3", release("failed"))])
      .when(release("aborted"), by("m4"))
      .then([])
  })

  it("frees the lease when the run ends and nobody releases", () => {
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

  it("listens to the ends of runs and to nothing else", () => {
    assert.deepStrictEqual(workspaceActor.subscription?.types as unknown, ["RunCompleted", "RunFailed", "RunAborted"])
    assert.strictEqual(workspaceActor.subscription?.route({ _tag: "RunAborted", runId, reason: "" }), runId)
    // @ts-expect-error: a pause is none of its inputs
    assert.isUndefined(workspaceActor.subscription?.route({ _tag: "RunPaused", runId }))
  })
})
