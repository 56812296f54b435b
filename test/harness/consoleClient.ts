/** A program that uses the web console without a browser. */
import { ConsoleSignedIn, consoleSessionHeader } from "@reprise/protocol"
import { Effect, Schema } from "effect"

const readReply = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ data: ConsoleSignedIn })))

/** Signs in with the token. Gives the headers with which everything may be asked for and sent. */
export const signIn = (address: string, token: string) =>
  Effect.promise(async (): Promise<Readonly<Record<string, string>>> => {
    const own = { origin: address, "content-type": "application/json" }
    const body = JSON.stringify({ token })
    const reply = await fetch(`${address}/api/session`, { method: "POST", headers: own, body })
    return { ...own, [consoleSessionHeader]: readReply(await reply.text()).data.session }
  })
