/**
 * Fifty sessions working at once on one host: the delay of their events compared with a direct subscription to OpenCode,
 * and the memory of the session-manager compared with its memory without sessions.
 */
import { readFileSync } from "node:fs"
import { Messenger } from "@reprise/actor"
import { AgentRuntime } from "@reprise/agent"
import { sessionIdOf } from "@reprise/protocol"
import { Effect, Layer, Stream } from "effect"
import { Cluster, clusterLayer } from "../harness/Cluster.ts"
import { needsHuman, on, plan } from "../harness/modelScript.ts"
import { withAgentRuntime } from "../harness/openCodeUser.ts"
import { turnIn } from "../harness/sessionTurn.ts"
import { waitUntil } from "../harness/waitUntil.ts"
import { figuresOf, milliseconds } from "./figures.ts"

const sessions = 50

const world = clusterLayer({
  plan: plan("One"),
  script: {
    rules: [
      on({ kind: "report" }, needsHuman("why")),
      on(
        {},
        {
          hold: "all at once",
          text: "I work, word by word, for a while. ".repeat(20),
          chunkChars: 20,
          chunkDelayMs: 20
        }
      )
    ]
  }
})

/** Resident memory of a process in MB. */
const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const measure = Effect.gen(function* () {
  const { pidOf, serve, world } = yield* Cluster
  const messenger = yield* Messenger
  yield* serve("session-manager")
  const pid = pidOf("session-manager")
  const alone = memoryOf(pid)

  const firstSeen = new Map<string, number>()
  const ids = new Map<string, string>()
  const completed = new Set<string>()
  yield* messenger.events({ services: ["session-manager"], from: "now" }).pipe(
    Stream.runForEach(({ event }) =>
      Effect.sync(() => {
        if (event._tag === "SessionCreated") ids.set(event.runId, event.runtimeSessionId)
        if (event._tag === "AgentWorking" && !firstSeen.has(event.runId)) firstSeen.set(event.runId, Date.now())
        if (event._tag === "TurnCompleted") completed.add(event.runId)
      })
    ),
    Effect.forkScoped({ startImmediately: true })
  )
  const seen = new Map<string, number>()
  yield* withAgentRuntime(
    world,
    AgentRuntime.use(({ events }) =>
      Stream.runForEach(events, (event) =>
        Effect.sync(() => {
          if (event.type === "working" && !seen.has(event.sessionId)) seen.set(event.sessionId, Date.now())
        })
      )
    )
  ).pipe(Effect.forkScoped)

  const names = Array.from({ length: sessions }, (_, n) => `fifty${n}`)
  for (const name of names) {
    const turn = turnIn(name, world.root, "work")
    yield* messenger.send({ service: "session-manager", key: sessionIdOf(turn.runId, 1), command: turn })
  }
  yield* waitUntil(Effect.map(world.model.calls, ({ length }) => (length >= sessions ? true : undefined)))
  yield* world.model.release("all at once")
  const released = Date.now()
  let most = memoryOf(pid)
  yield* waitUntil(
    Effect.sync(() => {
      most = Math.max(most, memoryOf(pid))
      return completed.size === sessions ? true : undefined
    })
  )
  const at = (name: string) => ({
    ours: firstSeen.get(name) ?? Number.NaN,
    theirs: seen.get(ids.get(name) ?? "") ?? Number.NaN
  })
  const floor = figuresOf(names.map((name) => at(name).theirs - released))
  const lag = figuresOf(names.map((name) => Math.max(0, at(name).ours - at(name).theirs)))
  process.stdout.write(`OpenCode's own events of the first activity: ${milliseconds(floor)} after the model's answer\n`)
  process.stdout.write(`Reprise's event after OpenCode's: ${milliseconds(lag)}\n`)
  process.stdout.write(
    `the session-manager's memory: ${alone.toFixed(0)} MB without sessions, ${most.toFixed(0)} MB at most with ${sessions}\n`
  )
}).pipe(Effect.scoped)

export const fiftySessions = (): Promise<void> => Effect.runPromise(measure.pipe(Effect.provide(Layer.fresh(world))))
