/**
 * Requests of a connection, whose answers come to one inbox. The driver's own requests take their whole time limit when the
 * connection is cut, and record a stack trace for each answer.
 */
import { createInbox, errors, type Msg, type MsgCallback, type NatsConnection } from "@nats-io/transport-node"

type PermissionViolation = InstanceType<typeof errors.PermissionViolationError>

/** A request that waits for its answer. */
interface Asked {
  readonly subject: string
  readonly answer: (message: Msg) => void
  readonly fail: (error: Error) => void
}

export interface Inbox {
  readonly request: NatsConnection["request"]
  /** Every request that waits fails. */
  readonly failAll: (reason: string, cause?: Error) => void
  /** The request that the server has refused fails. */
  readonly refuse: (error: PermissionViolation) => void
}

/** The server says so with an empty message. */
const saysNobodyAnswers = ({ data, headers }: Msg) => data.length === 0 && headers?.code === 503

export const openInbox = (nc: NatsConnection, prefix: string): Inbox => {
  const inbox = createInbox(prefix)
  /** By the last part of the subject that they are answered on. */
  const asked = new Map<string, Asked>()
  let count = 0
  let isOpen = false

  const failAll: Inbox["failAll"] = (reason, cause) => {
    for (const { fail } of asked.values()) fail(new errors.RequestError(reason, { cause }))
  }
  const hear: MsgCallback<Msg> = (error, message) => {
    if (error !== null) {
      isOpen = false
      return failAll(error.message, error)
    }
    const request = asked.get(message.subject.slice(inbox.length + 1))
    if (request === undefined) return
    if (!saysNobodyAnswers(message)) return request.answer(message)
    const cause = new errors.NoRespondersError(request.subject)
    request.fail(new errors.RequestError(cause.message, { cause }))
  }
  const open = () => {
    if (isOpen) return
    isOpen = true
    nc.subscribe(`${inbox}.*`, { callback: hear })
  }

  return {
    request: (subject, payload, { headers, timeout } = { timeout: 1_000 }) =>
      new Promise((resolve, reject) => {
        const token = `${++count}`
        const endWith =
          <A>(settle: (value: A) => void) =>
          (value: A) => {
            clearTimeout(timer)
            asked.delete(token)
            settle(value)
          }
        const fail = endWith<unknown>(reject)
        const timer = setTimeout(() => fail(new errors.TimeoutError()), timeout)
        asked.set(token, { subject, answer: endWith(resolve), fail })
        try {
          open()
          nc.publish(subject, payload, { reply: `${inbox}.${token}`, ...(headers === undefined ? {} : { headers }) })
        } catch (error) {
          fail(error)
        }
      }),
    failAll,
    refuse: (error) => {
      const refused = [...asked.values()].find(({ subject }) => subject === error.subject)
      refused?.fail(new errors.RequestError(error.message, { cause: error }))
    }
  }
}
