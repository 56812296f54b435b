/**
 * What OpenCode keeps in memory for each folder in which it has worked, and what of that it gives back when the folder's
 * instance is disposed of, compared with a server that has seen no folder. Linux only.
 */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { AgentRuntime, layerOpenCode, OpenCodeServer } from "@reprise/agent"
import { Effect, Layer, Option, Redacted } from "effect"
import { plan, script } from "../harness/modelScript.ts"
import { makeWorld } from "../harness/World.ts"
import { family, taken } from "./processes.ts"

const folders = 40
const settleMs = 10_000

const say = (line: string) => process.stdout.write(`${line}\n`)

const measured = Effect.gen(function* () {
  const runtime = yield* AgentRuntime
  const server = yield* OpenCodeServer
  const { password, url, username } = yield* server.connection
  const pid = Option.getOrElse(yield* server.pid, () => -1)
  const memory = Effect.sync(() => family(pid).reduce((sum, one) => sum + taken(one).memory, 0))
  const made = Array.from({ length: folders }, (_, n) => join(process.cwd(), `folder-${n}`))
  const work = Effect.forEach(made, (directory) => runtime.create({ directory, title: "x", permissions: "all" }))
  const dispose = Effect.forEach(made, (directory) =>
    Effect.promise(async () => {
      const token = Buffer.from(`${username}:${Redacted.value(password)}`).toString("base64")
      const address = `${url}/instance/dispose?directory=${encodeURIComponent(directory)}`
      await fetch(address, { method: "POST", headers: { authorization: `Basic ${token}` } })
    })
  )
  for (const directory of made) mkdirSync(directory, { recursive: true })
  const settled = Effect.andThen(Effect.sleep(`${settleMs} millis`), memory)
  const floor = yield* settled
  yield* work
  const loaded = yield* settled
  yield* dispose
  const disposed = yield* settled
  const times = (value: number) => `${value.toFixed(0)} MiB, ${(value / floor).toFixed(2)} × the empty server`
  say(`no folder: ${floor.toFixed(0)} MiB`)
  say(`${folders} folders: ${times(loaded)}, ${((loaded - floor) / folders).toFixed(1)} MiB each`)
  say(`their instances disposed of: ${times(disposed)}`)
})

export const openCodeFolders = (): Promise<void> =>
  Effect.gen(function* () {
    const world = yield* makeWorld({ plan: plan("One"), script: script() })
    process.chdir(world.root)
    const server = OpenCodeServer.layer({ stateDirectory: `${world.root}/.reprise`, environment: world.environment })
    yield* Effect.provide(measured, Layer.fresh(layerOpenCode().pipe(Layer.provideMerge(server))))
  }).pipe(Effect.scoped, Effect.runPromise)
