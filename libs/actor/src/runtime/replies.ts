/** What is answered to a query, as JSON text (docs/design/protocol.md#subjects-and-streams). */
import { Effect } from "effect"

export const data = (value: unknown): string => JSON.stringify({ ok: true, data: value })

/** The same of an array, whose elements are JSON texts. */
export const dataOfTexts = (texts: ReadonlyArray<string>): string => `{"ok":true,"data":[${texts.join(",")}]}`

/** `hint`: the next step of whoever asked. */
export const failure = (code: string, message: string, hint: string): string =>
  JSON.stringify({ ok: false, error: { code, message, hint } })

/** A failure that the log tells, too: it says what people need not know. */
export const loggedFailure = (logged: string, code: string, message: string, hint: string): Effect.Effect<string> =>
  Effect.as(Effect.logWarning(logged), failure(code, message, hint))
