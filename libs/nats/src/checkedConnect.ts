/**
 * Connecting to a server of this machine, and only to one of its owner's. While that is down, any user can listen at its port,
 * and would be told a person's password, or pass on the server's challenge to a service; or be taken for the server. The
 * driver connects again by itself, so the check is a part of each of its connections.
 */
import {
  type ConnectionOptions,
  connect,
  hasWsProtocol,
  type NatsConnection,
  NatsConnectionImpl,
  setTransportFactory
} from "@nats-io/transport-node"
import { NodeTransport, nodeResolveHost } from "@nats-io/transport-node/lib/node_transport.js"
import { type OwnServer, watchPort } from "@reprise/process"

export interface CheckedOptions extends ConnectionOptions {
  /** Default: the server may be anybody's, anywhere. */
  readonly ownServer?: OwnServer | undefined
}

class CheckedTransport extends NodeTransport {
  declare options: CheckedOptions

  override async dial(at: { readonly hostname: string; readonly port: number }) {
    const { ownServer } = this.options
    const strangerThere = ownServer === undefined ? undefined : watchPort(at.port, ownServer)
    const socket = await super.dial(at)
    const stranger = strangerThere?.()
    if (stranger === undefined) return socket
    socket.destroy()
    throw new Error(`a process of user ${stranger} listens on port ${at.port} of this machine, and is told nothing`)
  }
}

/** As the driver's own `connect`, which knows no such option. How connections are made holds for all of a process: use this one only. */
export const checkedConnect = (options: CheckedOptions): Promise<NatsConnection> => {
  // Which it refuses, and says so.
  if (hasWsProtocol(options)) return connect(options)
  setTransportFactory({ factory: () => new CheckedTransport(), dnsResolveFn: nodeResolveHost })
  return NatsConnectionImpl.connect(options)
}
