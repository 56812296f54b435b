import { errors, type NatsConnection } from "@nats-io/transport-node"
import { notePermission } from "./BrokerError.ts"
import { openInbox } from "./inbox.ts"

/**
 * The connection with requests that wait until it is up, and that fail with a `RequestError` when it is cut. The driver
 * drops what is sent while the connection is down, and leaves the requests in flight alone when the connection is cut. A
 * request that is not permitted fails with an error that knows the identity.
 */
export const connectedRequests = (nc: NatsConnection, identity: string, inboxPrefix: string): NatsConnection => {
  const inbox = openInbox(nc, inboxPrefix)
  let up = true
  /** What waits until the connection is up. */
  const waiting = new Set<() => void>()
  const goOn = () => {
    up = true
    for (const send of waiting) send()
  }
  const follow = async () => {
    for await (const status of nc.status()) {
      if (status.type === "error" && status.error instanceof errors.PermissionViolationError) {
        inbox.refuse(status.error)
      }
      if (status.type === "reconnect") goOn()
      if (status.type === "disconnect") {
        up = false
        inbox.failAll("the connection was cut")
      }
    }
  }
  /** Requests on a closed connection fail by themselves. */
  const end = () => {
    goOn()
    inbox.failAll("the connection is closed")
  }
  follow().then(end, end)

  const untilUp = (timeout: number): Promise<void> => {
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new errors.TimeoutError()), timeout)
    waiting.add(resolve)
    return promise.finally(() => {
      clearTimeout(timer)
      waiting.delete(resolve)
    })
  }
  const requestOnceUp: NatsConnection["request"] = async (subject, payload, options = { timeout: 1_000 }) => {
    const started = performance.now()
    if (!up) await untilUp(options.timeout)
    const timeout = Math.max(1, options.timeout - (performance.now() - started))
    return inbox.request(subject, payload, { ...options, timeout })
  }
  const request: NatsConnection["request"] = (...asked) =>
    requestOnceUp(...asked).catch((error: unknown) => {
      notePermission(error, identity)
      throw error
    })
  return new Proxy(nc, { get: (target, name) => (name === "request" ? request : Reflect.get(target, name)) })
}
