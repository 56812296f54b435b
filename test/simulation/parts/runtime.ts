/**
 * The agent runtime: the one in memory, which passes the contract suite of the port, as a server of its own that others
 * reach by requests, that may crash, and be away for a while.
 */
import {
  AgentError,
  AgentRuntime,
  type AgentRuntimeShape,
  AgentRuntimes,
  MemoryControl,
  type RuntimeEvent
} from "@reprise/agent"
import { Context, Effect, Exit, Layer, Queue, Scope, Stream } from "effect"
import { inOrder } from "../machine/inOrder.ts"
import type { Machine, Process } from "../machine/Machine.ts"
import { remotely } from "../machine/remotely.ts"
import type { Agents } from "./agents.ts"

/** The point at which an agent waits names for how long. */
class Durations extends MemoryControl {
  override hold(name: string): Effect.Effect<void> {
    const ms = Number(name)
    return Number.isNaN(ms) ? Effect.never : Effect.sleep(ms)
  }
}

export interface SimulatedRuntime {
  /** The runtime as its own server sees it. */
  readonly own: AgentRuntimeShape
  /** The runtime as a process reaches it. */
  readonly seenBy: (client: Process) => Layer.Layer<AgentRuntimes>
  /** Ends all turns, and is away for a while. */
  readonly crash: (downMs: number) => void
  readonly isUp: () => boolean
  /** The working tree of each session. */
  readonly directories: ReadonlyMap<string, string>
  /** The messages that sessions were prompted with, by session, oldest first. */
  readonly promptIds: ReadonlyMap<string, ReadonlySet<string>>
}

/** The adapters wait so long for a runtime that is away. */
const graceMs = 60_000

const gone = (operation: string) =>
  new AgentError({ operation, kind: "gone", detail: "The runtime does not come back.", sessionUsable: true })

/** A runtime that notes where its sessions work, and what they were prompted with. */
export const noting = (own: AgentRuntimeShape) => {
  const directories = new Map<string, string>()
  const promptIds = new Map<string, Set<string>>()
  const noted: AgentRuntimeShape = {
    ...own,
    create: (session) =>
      Effect.tap(own.create(session), (id) => Effect.sync(() => directories.set(id, session.directory))),
    prompt: (prompt) =>
      Effect.suspend(() => {
        const known = promptIds.get(prompt.runtimeSessionId) ?? new Set()
        promptIds.set(prompt.runtimeSessionId, known.add(prompt.promptId.messageId))
        return own.prompt(prompt)
      })
  }
  return { noted, directories, promptIds }
}

export const makeRuntime = (machine: Machine, server: Process, agents: Agents): SimulatedRuntime => {
  const control = new Durations()
  const scope = Scope.makeUnsafe()
  const built = machine.complete(
    server,
    Layer.buildWithScope(AgentRuntime.layerMemory({ script: agents.script, control }), scope)
  )
  if (Exit.isFailure(built)) throw new Error("The runtime could not be made.")
  const own = Context.get(built.value, AgentRuntime)
  const { directories, noted, promptIds } = noting(own)
  let backAtMs = 0

  /** Waits until it is back, or no longer than the grace. */
  const present = (operation: string): Effect.Effect<void, AgentError> =>
    Effect.suspend(() => {
      const awayMs = backAtMs - machine.nowMs
      if (awayMs <= 0) return Effect.void
      return awayMs <= graceMs ? Effect.sleep(awayMs) : Effect.andThen(Effect.sleep(graceMs), gone(operation))
    })

  const seenBy = (client: Process) => {
    const call = <A>(operation: string, effect: Effect.Effect<A, AgentError>) =>
      remotely(server, client, Effect.andThen(present(operation), effect))
    const events = Stream.callback<RuntimeEvent>((queue) =>
      Effect.acquireRelease(
        remotely(
          server,
          client,
          Effect.sync(() => {
            const lane = inOrder(client)
            const offer = (event: RuntimeEvent) => Effect.sync(() => lane(() => void Queue.offerUnsafe(queue, event)))
            return server.fork(Stream.runForEach(own.events, offer))
          })
        ),
        (fiber) => Effect.sync(() => machine.post(server, () => fiber.interruptUnsafe()))
      )
    )
    const shape: AgentRuntimeShape = {
      ...own,
      create: (session) => call("create", noted.create(session)),
      prompt: (prompt) => call("prompt", noted.prompt(prompt)),
      abort: (id) => call("abort", own.abort(id)),
      inspect: (id) => call("inspect", own.inspect(id)),
      events,
      reply: (reply) => call("reply", own.reply(reply)),
      pendingPrompts: (directory) => call("pendingPrompts", own.pendingPrompts(directory)),
      history: (id) => call("history", own.history(id))
    }
    return Layer.succeed(AgentRuntimes, AgentRuntimes.make([shape]))
  }

  return {
    own,
    seenBy,
    crash: (downMs) => {
      backAtMs = machine.nowMs + downMs
      server.fork(control.crash)
    },
    isUp: () => backAtMs <= machine.nowMs,
    directories,
    promptIds
  }
}
