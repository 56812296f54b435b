import { errors, type Msg, type NatsConnection } from "@nats-io/transport-node"

/**
 * The connection with requests that wait until it is up, and that fail with a `RequestError` when it is cut. The driver's
 * own requests take their whole time limit in both cases: it drops what is sent while the connection is down, and it
 * leaves the requests in flight alone when the connection is cut.
 */
export const connectedRequests = (nc: NatsConnection): NatsConnection => {
  /** Settled when the connection is cut, or is up again. */
  let change = Promise.withResolvers<void>()
  let up = true
  const changed = (now: boolean) => {
    up = now
    change.resolve()
    change = Promise.withResolvers()
  }
  const follow = async () => {
    for await (const { type } of nc.status()) {
      if (type === "disconnect") changed(false)
      // A closed connection says so by itself.
      if (type === "reconnect" || type === "close") changed(true)
    }
  }
  follow().catch(() => changed(true))

  const withinLimit = async (wait: Promise<void>, timeout: number) => {
    const limit = Promise.withResolvers<never>()
    const timer = setTimeout(() => limit.reject(new errors.TimeoutError()), timeout)
    await Promise.race([wait, limit.promise]).finally(() => clearTimeout(timer))
  }
  const cut = async (wait: Promise<void>): Promise<never> => {
    await wait
    throw new errors.RequestError("the connection was cut")
  }
  const request: NatsConnection["request"] = async (subject, payload, options = { timeout: 1000 }): Promise<Msg> => {
    const started = performance.now()
    if (!up) await withinLimit(change.promise, options.timeout)
    const timeout = Math.max(1, options.timeout - (performance.now() - started))
    return Promise.race([nc.request(subject, payload, { ...options, timeout }), cut(change.promise)])
  }
  return new Proxy(nc, { get: (target, name) => (name === "request" ? request : Reflect.get(target, name)) })
}
