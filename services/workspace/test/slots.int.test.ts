/** Hosts that take runs of a git remote only while they have a free slot, on a real broker. */
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ActorConfig, actorLayer, JetStreamBroker, Messenger } from "@reprise/actor"
import { ensureStreams, Nats } from "@reprise/nats"
import { Host, RunId, type WorkspaceCommand } from "@reprise/protocol"
import { localBroker, Broker as Server } from "@reprise/testing"
import { Effect, Exit, Layer, Schedule, Scope } from "effect"
import { workspaceActor } from "../src/actor/actor.ts"
import { WorkspaceFiles } from "../src/work/files/WorkspaceFiles.ts"
import { Git } from "../src/work/git/Git.ts"
import { GitDirectory } from "../src/work/git/GitDirectory.ts"
import { Leases } from "../src/work/leases/Leases.ts"
import { Remotes } from "../src/work/remote/Remotes.ts"
import { workspaceWorker } from "../src/work/worker.ts"
import { prepareIn } from "./support/commands.ts"
import { repository, temporaryDirectory } from "./support/repository.ts"

const prefix = "t"
const [one, two] = [Host.make("one"), Host.make("two")]

const messagingOf = (url: string, host: Host) =>
  Messenger.layer.pipe(
    Layer.provideMerge(JetStreamBroker.layer),
    Layer.provideMerge(Layer.effectDiscard(ensureStreams(prefix, { storageBytes: 256 * 1024 ** 2 }))),
    Layer.provideMerge(Nats.layer({ url, name: host })),
    Layer.provideMerge(ActorConfig.layer({ host, prefix }))
  )

/** The workspace service of a host with two slots, whose clones are in this folder, until its scope closes. */
const startHost = Effect.fnUntraced(function* (url: string, host: Host, folder: string) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const worker = workspaceWorker(2).pipe(
    Layer.provide(Leases.layer),
    Layer.provide(Layer.mergeAll(Git.layer, GitDirectory.layer, WorkspaceFiles.layer, Remotes.layerIn(folder))),
    Layer.provide(NodeServices.layer)
  )
  const service = Layer.merge(actorLayer(workspaceActor), worker).pipe(Layer.provide(messagingOf(url, host)))
  yield* Scope.provide(Layer.build(Layer.fresh(service)), scope)
  return { end: Scope.close(scope, Exit.void) }
})

const ask = (command: WorkspaceCommand) =>
  Messenger.use((messenger) => messenger.send({ service: "workspace", key: command.runId, command }))

const until = <A, E, R>(effect: Effect.Effect<A, E, R>, isSo: (found: A) => boolean) =>
  effect.pipe(
    Effect.retry(Schedule.spaced("20 millis")),
    Effect.repeat({ until: isSo, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOrElse({ duration: "5 minutes", orElse: () => Effect.die(new Error("waited in vain")) })
  )

const names = ["r1", "r2", "r3", "r4", "r5"].map((name) => RunId.make(name))

/** Where each of the runs is. */
const places = Messenger.use(({ show }) =>
  Effect.forEach(names, (runId) => Effect.map(show.workspace(runId), ({ host }) => [runId, host] as const))
)
const on = (found: ReadonlyArray<readonly [RunId, Host]>, host: string) =>
  found.flatMap(([runId, place]) => (place === host ? [runId] : []))

/** `used of all` of each host that answers. */
const slots = Messenger.use(({ hosts }) => hosts("workspace")).pipe(
  Effect.map((all) => all.flatMap(({ host, slots: of }) => (of ? [`${host}: ${of.used} of ${of.all}`] : [])))
)

describe("hosts with two slots each", () => {
  it.live("take two runs each; the fifth waits, is taken when one ends, and slots outlast a restart", () =>
    Effect.gen(function* () {
      const { url } = yield* Server
      const somebody = yield* repository
      const bare = join(yield* temporaryDirectory, "app.git")
      yield* somebody.git("clone", "--quiet", "--bare", "--", somebody.root, bare)
      const prepare = (runId: RunId, more: Partial<ReturnType<typeof prepareIn>> = {}) =>
        ask(prepareIn("", { runId, branch: `reprise/${runId}`, remote: { url: `file://${bare}` }, ...more }))
      const folders = { one: yield* temporaryDirectory, two: yield* temporaryDirectory }

      yield* Effect.gen(function* () {
        const first = yield* startHost(url, one, folders.one)
        yield* Effect.forEach(names, (runId) => prepare(runId), { concurrency: "unbounded" })
        const alone = yield* until(places, (found) => on(found, one).length === 2)
        assert.lengthOf(on(alone, "any"), 3)
        yield* startHost(url, two, folders.two)
        const full = yield* until(places, (found) => on(found, two).length === 2)
        assert.lengthOf(on(full, one), 2)
        const [fifth = RunId.make("none")] = on(full, "any")
        assert.lengthOf(on(full, "any"), 1)
        assert.deepStrictEqual(yield* slots, ["one: 2 of 2", "two: 2 of 2"])

        // The process goes; its runs and their slots stay.
        yield* first.end
        const again = yield* startHost(url, one, folders.one)
        yield* until(slots, (all) => all.includes("one: 2 of 2"))
        assert.deepStrictEqual(yield* places, full)

        // A run that is moved away while its host is gone has no slot there any more.
        yield* again.end
        const [moved = RunId.make("none")] = on(full, one)
        const [done = RunId.make("none")] = on(full, two)
        yield* ask({ _tag: "ReleaseWorkspace", runId: done, outcome: "completed" })
        yield* until(places, (found) => on(found, two).includes(fifth))
        yield* prepare(moved, { leaving: one })
        yield* ask({ _tag: "ReleaseWorkspace", runId: fifth, outcome: "completed" })
        yield* until(places, (found) => on(found, two).includes(moved))
        yield* startHost(url, one, folders.one)
        yield* until(slots, (all) => all.includes("one: 1 of 2") && all.includes("two: 2 of 2"))
      }).pipe(Effect.provide(messagingOf(url, Host.make("test"))))
    }).pipe(Effect.provide(localBroker))
  )
})
