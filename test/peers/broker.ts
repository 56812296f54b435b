/**
 * The lower bound of Reprise's steps: the bare client stores two messages in two streams, one after the other, for each
 * step. An actor cannot do with less: the command that asks for the step, and the journal's entry.
 */
import { jetstream } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import { subjects } from "@reprise/protocol"
import { describeServer, prefix, startNatsServer } from "./natsServer.ts"
import { type Peer, payload } from "./Peer.ts"

export const broker: Peer = {
  name: "broker",
  canPark: false,
  hasEffects: false,
  missing: () => undefined,
  describe: async () => `two messages stored one after the other, without Reprise: ${await describeServer()}`,
  startServer: startNatsServer,
  work: async () => {},
  client: async ({ url = "" }) => {
    const js = jetstream(await connect({ servers: url, noAsyncTraces: true }))
    const { command, journal } = subjects(prefix)
    return {
      run: async ({ id, steps }) => {
        for (let step = 0; step < steps; step++) {
          await js.publish(command("orchestrator", id), payload, { msgID: `command.${id}.${step}` })
          await js.publish(journal("run", id), payload, { msgID: `journal.${id}.${step}` })
        }
      }
    }
  }
}
