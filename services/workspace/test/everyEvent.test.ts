import { assert, describe, it } from "@effect/vitest"
import { given } from "@reprise/actor/testing"
import { Host, type WorkspaceCommand } from "@reprise/protocol"
import { Schema } from "effect"
import { workspaceActor } from "../src/actor/actor.ts"
import { evolve } from "../src/actor/evolve.ts"
import { toWorkspaceActor } from "../src/actor/inputs.ts"
import type { JournalEvent } from "../src/actor/journal.ts"
import { react } from "../src/actor/react.ts"
import { initial, type WorkspaceState } from "../src/actor/state.ts"
import { type Place, WorkspaceWork } from "../src/actor/work.ts"
import { claims, finish, gates, phase, prepareIn, runId, verify, verifyTasks } from "./support/commands.ts"

const workspace = given(workspaceActor, WorkspaceWork)
const host = Host.make("h1")
const place: Place = { host, root: "/repo", directory: "/repo", leaseId: "l1", tolerated: ["notes/"] }
const prepare = prepareIn("/repo")
const release = (outcome: "completed" | "aborted"): WorkspaceCommand => ({ _tag: "ReleaseWorkspace", runId, outcome })
const preparing: ReadonlyArray<JournalEvent> = [
  { _tag: "Requested", requestId: "m1", command: prepare },
  { _tag: "Started", requestId: "m1" }
]
const refused: JournalEvent = {
  ...{ _tag: "Reported", requestId: "m1" },
  event: { _tag: "WorkspaceRefused", runId, kind: "dirty-tree", reason: "dirty" }
}
const prepared: JournalEvent = {
  ...{ _tag: "Reported", requestId: "m1", place },
  event: { _tag: "WorkspacePrepared", runId, host, directory: "/repo", head: "abcd" }
}
const ready = [...preparing, prepared]
const ended: JournalEvent = { _tag: "RunEnded", runId }
const asking = (command: WorkspaceCommand): ReadonlyArray<JournalEvent> => [
  { _tag: "Requested", requestId: "m2", command },
  { _tag: "Started", requestId: "m2" }
]

const after = (...events: ReadonlyArray<JournalEvent>): WorkspaceState => events.reduce(evolve, initial)

const inPlace = [
  gates(["true"]),
  verify("c1", "c0"),
  claims("c0", []),
  finish(),
  verifyTasks([]),
  { _tag: "WriteContinuationState", runId, phase, planId: "p1", slug: "plan", completedTasks: [] },
  { _tag: "WriteSummary", runId, path: "summary.md", text: "# Summary" }
] as ReadonlyArray<WorkspaceCommand>

describe("a prepared workspace that nothing is asked of", () => {
  it.each([...inPlace, release("completed"), release("aborted")])(
    "does $_tag at once, where its files are",
    (command) => {
      const asked = workspace(ready).when(command, { id: "m2", key: runId })
      asked.then([...asking(command)])
      asked.sends([
        { _tag: "RequestWork", host, work: { _tag: "DoRequest", requestId: "m2", command, place } as never }
      ])
    }
  )
})

describe("work for the worker", () => {
  it.each([
    ["to do a request", ready, asking(finish())],
    ["to stop one", ready, [{ _tag: "CancelAsked", requestId: "m2" }]],
    ["to free a lease", ready, [ended]],
    ["to free whatever lease there is", preparing, [ended]],
    ["to leave a place", ready, [{ _tag: "PlaceLeft", runId, place }]]
  ] as ReadonlyArray<readonly [string, ReadonlyArray<JournalEvent>, ReadonlyArray<JournalEvent>]>)(
    "can be read by it as it was written: %s",
    (_, history, events) => {
      const works = react(after(...history, ...events), events).flatMap((one) =>
        one._tag === "RequestWork" ? [one.work] : []
      )
      const schema = Schema.fromJsonString(WorkspaceWork)
      assert.strictEqual(works.length, 1)
      for (const work of works) assert.deepStrictEqual(Schema.decodeSync(schema)(Schema.encodeSync(schema)(work)), work)
    }
  )

  it("is not sent by an event that does not fit the state", () => {
    const none: ReadonlyArray<JournalEvent> = [
      { _tag: "Started", requestId: "m9" },
      { _tag: "CancelAsked", requestId: "m9" }
    ]
    assert.deepStrictEqual(react(initial, none), [])
    assert.deepStrictEqual(react({ ...initial, place }, none), [])
    assert.deepStrictEqual(react(after(...preparing), none), [])
    assert.deepStrictEqual(react(after(...ready), none.slice(0, 1)), [])
  })

  it("goes to any host for a release whose place is lost", () => {
    const lost = after(...ready, { _tag: "PlaceLost", host }, ...asking(release("aborted")))
    assert.containSubset(react(lost, [{ _tag: "Started", requestId: "m2" }]), [{ _tag: "RequestWork", host: "any" }])
  })
})

describe("the state of a workspace", () => {
  const queue: ReadonlyArray<never> = []

  it("holds only what its events said", () => {
    assert.deepStrictEqual(after(...preparing, refused), { status: "new", runId, queue, ended: false })
    assert.deepStrictEqual(after(...ready), { status: "active", runId, queue, ended: false, place })
    assert.deepStrictEqual(after(...ready, { _tag: "PlaceLost", host }), { status: "new", runId, queue, ended: false })
    const left = after(...ready, { _tag: "PlaceLost", host, left: place })
    assert.deepStrictEqual(left, { status: "new", runId, queue, ended: false, left: place })
    assert.notProperty(evolve(left, { _tag: "PlaceLeft", runId, place }), "left")
  })

  it("knows that its run has ended until it is prepared again", () => {
    assert.isTrue(after(...ready, ended, ...asking(release("completed"))).ended)
    assert.isFalse(after(...ready, ended, ...asking(prepare)).ended)
  })

  it("knows its run", () => {
    assert.isUndefined(workspaceActor.runOf(initial))
    assert.strictEqual(workspaceActor.runOf(after(...preparing)), runId)
  })
})

it("addresses the reports of the worker to the workspace of the run", () => {
  const { requestId, event } = prepared as Extract<JournalEvent, { _tag: "Reported" }>
  assert.containSubset(toWorkspaceActor(runId).Report({ requestId, event }), {
    ...{ service: "workspace", key: runId },
    command: { _tag: "Report", runId, requestId, event }
  })
})
