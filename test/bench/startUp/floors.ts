/** What a command cannot do without, alone: the lower bounds that commands are compared with. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { performance } from "node:perf_hooks"
import { OpenCodeServer } from "@reprise/agent"
import { ensureStreams } from "@reprise/nats"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { World } from "../../harness/World.ts"
import { embedded } from "../embedded.ts"
import { endedChildrenSeconds } from "../processes.ts"
import type { Times } from "./Times.ts"
import { step } from "./within.ts"

export const sinceMs = (startedMs: number): number => performance.now() - startedMs

const programSeconds = 60

/** A program from its start to its end. */
export const noteProgram = (times: Times, name: string, args: ReadonlyArray<string>): void => {
  const [started, before] = [performance.now(), endedChildrenSeconds(process.pid)]
  const { signal, status } = spawnSync(process.execPath, [...args], { stdio: "ignore", timeout: programSeconds * 1000 })
  const ms = sinceMs(started)
  if (status !== 0) throw new Error(`${name} ended with ${status ?? signal} after ${ms.toFixed(0)} ms`)
  times.note(name, ms, (endedChildrenSeconds(process.pid) - before) * 1000)
}

export const brokerStart = "a broker alone, with its streams"

/** The broker with its streams and one connection: a command has a connection for each service, and one of its own. */
export const noteBroker = Effect.fnUntraced(function* (times: Times) {
  const started = performance.now()
  const broker = yield* step(brokerStart, Layer.build(Layer.fresh(embedded)))
  yield* step("its streams", Effect.provide(ensureStreams("reprise", { storageBytes: 512 * 1024 ** 2 }), broker))
  times.note(brokerStart, sinceMs(started))
}, Effect.scoped)

const decodeSession = Schema.decodeUnknownSync(Schema.Struct({ id: Schema.String }))

export const openCodeStart = "OpenCode alone, until it answers"
export const openCodePrompt = "OpenCode alone, to the first prompt"

/** OpenCode in a world of its own, where everything is cold: its start, a session, a prompt, and nothing else. */
export const noteOpenCode = Effect.fnUntraced(function* (times: Times, { environment, model, root }: World) {
  const started = performance.now()
  const server = OpenCodeServer.layer({ stateDirectory: join(root, "..", "alone"), environment })
  const built = yield* Layer.build(Layer.fresh(server))
  const { password, url, username } = yield* step(openCodeStart, Context.get(built, OpenCodeServer).connection)
  times.note(openCodeStart, sinceMs(started))
  const post = (path: string, body: unknown) =>
    Effect.promise(async (signal) => {
      const token = Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")
      const headers = { authorization: `Basic ${token}`, "content-type": "application/json" }
      const address = `${url}${path}?directory=${encodeURIComponent(root)}`
      return (await fetch(address, { method: "POST", headers, body: JSON.stringify(body), signal })).json()
    })
  const { id } = decodeSession(yield* step("a session of OpenCode", post("/session", { title: "alone" })))
  yield* Effect.forkScoped(post(`/session/${id}/message`, { parts: [{ type: "text", text: "Write it" }] }))
  yield* step(
    openCodePrompt,
    model.awaitCall(() => true)
  )
  times.note(openCodePrompt, sinceMs(started))
}, Effect.scoped)
