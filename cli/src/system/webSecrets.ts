/** The secrets that settings of the web console name. */
import { readSecret } from "@reprise/gate/console"
import { Effect, Redacted } from "effect"
import type { Settings } from "../config/settingsTable.ts"
import { missing } from "../terminal/CliFailure.ts"

interface Kind {
  readonly code: string
  readonly setting: string
  /** For messages: what it is. */
  readonly name: string
  readonly shortest: number
}

const secretOf = ({ code, name, setting, shortest }: Kind) =>
  Effect.fnUntraced(function* (reference: string) {
    const secret = yield* readSecret(name, reference, process.env).pipe(
      Effect.mapError((error) => missing(code, error.message, `Set the variable or file that ${setting} names.`, error))
    )
    if (secret.length >= shortest) return Redacted.make(secret)
    return yield* missing(
      code,
      `${name} has less than ${shortest} characters.`,
      `Make one with 'openssl rand -hex 32', for everybody who needs it, and name it in ${setting}.`
    )
  })

/** Shows that a request comes through the proxy. */
export const proxySecret = secretOf({
  code: "proxy-secret",
  setting: "web.proxySecret",
  name: "The proxy's secret of the web console",
  shortest: 16
})

const sharedKey = secretOf({
  code: "answer-links",
  setting: "web.answerKey",
  name: "The key of the links that answer questions",
  shortest: 32
})

/** Signs the links by which a message is answered, where a gate and a console on other machines share it. */
export const sharedAnswerKey = ({ web }: Settings) =>
  web.answerKey === undefined ? Effect.undefined : sharedKey(web.answerKey)
