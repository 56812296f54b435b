/**
 * A worker or a client, started by `startProcess`. A client does what it is asked, and says how long that took. Each loads
 * its own peer alone.
 */

import type { Chain, Peer } from "./Peer.ts"

export type Request =
  | { readonly ask: number; readonly run: ReadonlyArray<Chain> }
  | { readonly ask: number; readonly park: string }
  | { readonly ask: number; readonly answer: string }

const [role, name = "", address = "{}"] = process.argv.slice(2)
const module: Readonly<Record<string, Peer | undefined>> = await import(`./${name}.ts`)
const peer = module[name]
if (peer === undefined) throw new Error(`there is no peer ${name}`)
const say = (message: unknown) => process.send?.(message)
process.on("disconnect", () => process.exit(0))

if (role === "worker") {
  await peer.work(JSON.parse(address))
} else {
  const client = await peer.client(JSON.parse(address))
  const perform = async (request: Request) => {
    if ("run" in request) await Promise.all(request.run.map((chain) => client.run(chain)))
    else if ("park" in request) await client.park?.(request.park)
    else await client.answer?.(request.answer)
  }
  process.on("message", (request: Request) => {
    const began = performance.now()
    perform(request).then(
      () => say({ ask: request.ask, ms: performance.now() - began }),
      (error: unknown) => say({ ask: request.ask, error: String(error) })
    )
  })
}
say({ ready: true })
