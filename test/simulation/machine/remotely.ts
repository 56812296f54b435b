/** An effect of another process: the request goes there, the answer comes back, and either may find its process dead. */
import { Effect } from "effect"
import type { Process } from "./Machine.ts"

export const remotely = <A, E>(server: Process, client: Process, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.callback<A, E>((resume) => {
    const { machine } = client
    machine.post(server, () => {
      server.fork(effect).addObserver((exit) => machine.post(client, () => resume(exit)))
    })
  })
