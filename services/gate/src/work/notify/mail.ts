/** Sends one e-mail of a channel by SMTP. What the server answers besides its status is not read. */
import { defined } from "@reprise/protocol"
import { Clock, Effect, Redacted } from "effect"
import { mailServerOf } from "../../notify/addresses.ts"
import type { Outcome } from "../../notify/attempts.ts"
import { mailOf } from "../../notify/mailOf.ts"
import { type MailTrouble, mailOutcome } from "../../notify/mailOutcome.ts"
import type { Notices } from "../../notify/Notice.ts"
import { answersIn, longestWaitMs, type MailChannel, type SendOptions } from "./Channel.ts"

/** Most commands send no mail, so it is loaded when the first is sent. */
const loadNodemailer = () => import("nodemailer")

const connectionOf = ({ login, url }: MailChannel) => {
  const { host, isLocal, isTls, port } = mailServerOf(Redacted.value(url))
  return {
    host,
    port,
    secure: isTls,
    // What would otherwise go over a network in the clear: the password, and the questions.
    requireTLS: !isTls && !isLocal,
    // A server of this machine may offer STARTTLS with any certificate; without STARTTLS it would do, too.
    ...(isLocal && !isTls ? { tls: { rejectUnauthorized: false } } : {}),
    ...(login === undefined ? {} : { auth: { user: login.user, pass: Redacted.value(login.password) } }),
    socketCloseTimeout: 1_000
  }
}

const textOf = (thrown: object, field: string): string | undefined => {
  const value: unknown = Reflect.get(thrown, field)
  return typeof value === "string" ? value : undefined
}

/** No words of the failure: they may hold the server's. */
const troubleOf = (thrown: unknown): MailTrouble => {
  if (!(thrown instanceof Error)) return {}
  const [code, originalCode, command] = ["code", "originalCode", "command"].map((field) => textOf(thrown, field))
  const status: unknown = Reflect.get(thrown, "responseCode")
  return {
    ...defined({ code, originalCode, command }),
    ...(typeof status === "number" ? { responseCode: status } : {})
  }
}

const delivered = (refused: number, recipients: number): Outcome =>
  refused === 0
    ? { _tag: "Delivered" }
    : { _tag: "Delivered", warning: `the server refused ${refused} of ${recipients} recipients` }

/** Never fails. */
export const mail = Effect.fn("mail")(function* (channel: MailChannel, notices: Notices, options: SendOptions = {}) {
  const { origin, timeoutMs = longestWaitMs } = options
  const answers = answersIn(channel, notices, options, yield* Clock.currentTimeMillis)
  const { from, to, ...message } = mailOf(channel, notices, origin, answers)
  return yield* Effect.tryPromise({
    try: async (signal) => {
      const { createTransport } = await loadNodemailer()
      const { rejected } = await createTransport(connectionOf(channel)).sendMail({
        ...message,
        ...defined({ references: message.inReplyTo }),
        from: { name: "Reprise", address: from },
        to: to.map((address) => ({ name: "", address })),
        // RFC 3834: nobody's absence is answered.
        headers: { "Auto-Submitted": "auto-generated" },
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      })
      return delivered(rejected.length, to.length)
    },
    catch: (thrown) => mailOutcome(troubleOf(thrown), timeoutMs)
  }).pipe(Effect.catch(Effect.succeed))
})
