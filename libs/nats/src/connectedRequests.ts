import { errors, type NatsConnection } from "@nats-io/transport-node"
import { notePermission } from "./BrokerError.ts"

/**
 * The connection with requests that wait until it is up, and that fail with a `RequestError` when it is cut. The driver's
 * own requests take their whole time limit in both cases: it drops what is sent while the connection is down, and it
 * leaves the requests in flight alone when the connection is cut. A request that is not permitted fails with an error that
 * knows the identity.
 */
export const connectedRequests = (nc: NatsConnection, identity: string): NatsConnection => {
  let up = true
  /** Called when the connection is cut or up again: one for each request that is under way. */
  const waiting = new Set<() => void>()
  const follow = async () => {
    for await (const { type } of nc.status()) {
      if (type !== "disconnect" && type !== "reconnect" && type !== "close") continue
      // Requests on a closed connection fail by themselves.
      up = type !== "disconnect"
      for (const change of waiting) change()
    }
  }
  follow().catch(() => {
    up = true
  })

  const untilUp = (timeout: number): Promise<void> => {
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new errors.TimeoutError()), timeout)
    waiting.add(resolve)
    return promise.finally(() => {
      clearTimeout(timer)
      waiting.delete(resolve)
    })
  }
  const untilCut = <A>(answer: Promise<A>): Promise<A> => {
    const { promise, reject, resolve } = Promise.withResolvers<A>()
    const cut = () => reject(new errors.RequestError("the connection was cut"))
    waiting.add(cut)
    answer.then(resolve, reject)
    return promise.finally(() => waiting.delete(cut))
  }
  const request: NatsConnection["request"] = async (subject, payload, options = { timeout: 1000 }) => {
    const started = performance.now()
    if (!up) await untilUp(options.timeout)
    const timeout = Math.max(1, options.timeout - (performance.now() - started))
    return untilCut(nc.request(subject, payload, { ...options, timeout })).catch((error: unknown) => {
      notePermission(error, identity)
      throw error
    })
  }
  return new Proxy(nc, { get: (target, name) => (name === "request" ? request : Reflect.get(target, name)) })
}
