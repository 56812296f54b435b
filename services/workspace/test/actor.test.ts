import { assert, describe, it } from "@effect/vitest"
import type { Delivery } from "@reprise/actor"
import { given } from "@reprise/actor/testing"
import { anyHost, Host, RunId, type WorkspaceCommand } from "@reprise/protocol"
import { workspaceActor } from "../src/actor/actor.ts"
import type { WorkspaceFact } from "../src/actor/inputs.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { type Place, WorkspaceWork } from "../src/actor/work.ts"
import { finish, gates, prepareIn, runId } from "./support/commands.ts"

const workspace = given(workspaceActor, WorkspaceWork)
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

describe("a workspace whose host is gone", () => {
  const leaving = { ...prepare, leaving: h1 }

  it("is prepared on any other host, and nothing that the first was asked is waited for", () => {
    const left = workspace(isBusy).when(leaving, by("m3"))
    left.then([
      { _tag: "Dropped", requestIds: ["m2"] },
      { _tag: "PlaceLost", host: h1 },
      requested("m3", leaving),
      started("m3")
    ])
    assert.containSubset(left.sent, [{ _tag: "RequestWork", host: "any", work: { requestId: "m3" } }])
  })

  it("takes no late report of that host", () => {
    const moved: ReadonlyArray<JournalEvent> = [
      ...isBusy,
      { _tag: "Dropped", requestIds: ["m2"] },
      { _tag: "PlaceLost", host: h1 },
      requested("m3", leaving),
      started("m3")
    ]
    workspace(moved)
      .when(report("m2", failed), by("x"))
      .refused(/is late and changes nothing/)
  })

  it("stays where it is if it was prepared elsewhere meanwhile", () => {
    const elsewhere = workspace(isPrepared).when({ ...prepare, leaving: Host.make("h9") }, by("m2"))
    assert.containSubset(elsewhere.sent, [{ _tag: "RequestWork", host: "h1" }])
  })
})

describe("a workspace whose host is drained", () => {
  const leaving = { ...prepare, leaving: h1, drained: true }
  const lost: JournalEvent = { _tag: "PlaceLost", host: h1, left: place }
  const moving = [...isPrepared, lost, requested("m2", leaving), started("m2")]
  const there = { ...place, host: Host.make("h2") }

  it("is prepared on any other host", () => {
    const left = workspace(isPrepared).when(leaving, by("m2"))
    left.then([lost, requested("m2", leaving), started("m2")])
    assert.containSubset(left.sent, [{ _tag: "RequestWork", host: "any", work: { requestId: "m2" } }])
  })

  it("is freed on the drained one, but not before it is prepared on another", () => {
    const moved = workspace(moving).when(report("m2", prepared, there), by("x"))
    moved.then([reported("m2", prepared, there), { _tag: "PlaceLeft", runId, place }])
    assert.containSubset(moved.sent, [{ _tag: "RequestWork", host: "h1", work: { _tag: "LeavePlace", place } }])
  })

  it("keeps what it has there where it could not be prepared elsewhere, or came back", () => {
    for (const [event, at] of [
      [refused, undefined],
      [prepared, place]
    ] as const) {
      workspace(moving)
        .when(report("m2", event, at), by("x"))
        .then([reported("m2", event, at)])
    }
  })
})

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

describe("preparing a workspace again", () => {
  const again = [requested("m5", prepare), started("m5")]

  it("starts after a refusal, when it was requested before that", () => {
    workspace([...isPrepared.slice(0, 2), requested("m2", prepare)])
      .when(report("m1", refused), by("x"))
      .then([reported("m1", refused), started("m2")])
  })

  it("makes a released workspace usable", () => {
    const prepares = workspace([...isReleased, ...again])
    assert.containSubset(workspaceActor.view?.(prepares.state), { status: "active" })
    prepares.when(finish(), by("m6")).then([requested("m6", finish())])
  })

  it("replaces where the workspace is", () => {
    const moved: Place = { ...place, directory: "/repo/.reprise/worktrees/r1", branch: "reprise/plan" }
    const { state } = workspace([...isPrepared, ...again]).when(report("m5", prepared, moved), by("x"))
    assert.containSubset(workspaceActor.view?.(state), { directory: moved.directory, branch: "reprise/plan" })
  })

  it("lets the end of the run free the lease again", () => {
    workspace([...isPrepared, { _tag: "RunEnded", runId }, ...again, reported("m5", prepared, place)])
      .when({ _tag: "RunCompleted", runId }, by("e2"))
      .then([{ _tag: "RunEnded", runId }])
  })
})

describe("the view of a workspace", () => {
  it("exists from the first request, and says that the workspace is being prepared", () => {
    assert.isUndefined(workspaceActor.view?.(workspace([]).state))
    assert.deepStrictEqual(workspaceActor.view?.(workspace(isPrepared.slice(0, 2)).state) as unknown, {
      runId,
      status: "preparing",
      host: "any",
      requests: ["m1"]
    })
  })
})

describe("every refusal", () => {
  it.each([
    ["misaddressed", [], { ...prepare, runId: RunId.make("r9") }],
    ["not-prepared", [], finish()],
    ["released", isReleased, finish()],
    ["stale", isPrepared, report("m1", failed)]
  ] as const)("has the code %s", (code, history, command) => {
    assert.containSubset(workspace(history).when(command, by("m9")).outcome, { failure: { code } })
  })
})

describe("releasing a workspace", () => {
  it("waits for earlier requests when the run is over", () => {
    workspace(isBusy)
      .when(release("completed"), by("m3"))
      .then([requested("m3", release("completed"))])
  })

  it("waits for earlier requests when the run failed, without dropping or stopping them", () => {
    const history = [...isBusy, requested("m3", finish())]
    const waiting = workspace(history).when(release("failed"), by("m4"))
    waiting.then([requested("m4", release("failed"))])
    waiting.sends([])
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
    assert.containSubset(workspaceActor.view?.(unused.state), { status: "released", requests: [] })
    assert.deepStrictEqual(unused.state.queue, [])
    assert.containSubset(unused.published, [refused, released])
  })

  it("drops what waits for a workspace that is still being prepared, when the run was aborted", () => {
    workspace([...isPrepared.slice(0, 2), requested("m2", prepare)])
      .when(release("aborted"), by("m3"))
      .then([{ _tag: "Dropped", requestIds: ["m2"] }, requested("m3", release("aborted"))])
  })

  it("happens at once when nothing was prepared, and only once when it is requested twice", () => {
    const unused = workspace([]).when(release("failed"), by("m1"))
    unused.then([{ _tag: "ReleasedUnused", runId }])
    unused.sends([
      { _tag: "PublishEvent", event: released },
      { _tag: "RequestWork", host: anyHost, work: { _tag: "FreeLease", runId } as never }
    ])
    assert.deepStrictEqual(workspaceActor.view?.(unused.state) as unknown, {
      runId,
      status: "released",
      host: "any",
      requests: []
    })
    workspace(isReleased).when(release("failed"), by("m9")).then([])
    workspace([...isBusy, requested("m3", release("failed"))])
      .when(release("aborted"), by("m4"))
      .then([])
  })

  it("stays released when a request that waited behind the release fails", () => {
    const late = workspace([
      ...isBusy,
      requested("m3", release("failed")),
      requested("m4", finish()),
      reported("m2", failed),
      reported("m3", released)
    ]).when(report("m4", failed), by("x"))
    assert.containSubset(workspaceActor.view?.(late.state), { status: "released" })
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

  it("frees whatever lease the run has when it ends unprepared, since a host may have died before it told of one", () => {
    const freed = { _tag: "RequestWork", host: anyHost, work: { _tag: "FreeLease", runId } } as const
    const isFailed = [requested("m1", prepare), started("m1"), reported("m1", failed)]
    const ended = workspace(isFailed).when({ _tag: "RunFailed", runId, reason: "x" }, by("e1"))
    ended.then([{ _tag: "RunEnded", runId }])
    ended.sends([freed as never])
    const isAborted = [requested("m1", prepare), started("m1"), requested("m2", release("aborted"))]
    workspace(isAborted).when({ _tag: "RunAborted", runId, reason: "x" }, by("e1")).then([])
    assert.containSubset(workspace(isAborted).when(report("m1", failed), by("x")).sent, [freed])
  })

  it("follows from the ends of runs and from no other event", () => {
    assert.deepStrictEqual(workspaceActor.subscription?.types as unknown, ["RunCompleted", "RunFailed", "RunAborted"])
    assert.strictEqual(workspaceActor.subscription?.route({ _tag: "RunAborted", runId, reason: "" }), runId)
  })
})
