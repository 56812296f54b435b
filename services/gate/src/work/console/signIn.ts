/** Signing in: the token is exchanged for a cookie, which scripts cannot read and other sites cannot send. */
import { randomUUID } from "node:crypto"
import { type ConsoleRole, ConsoleSession, ConsoleSignIn } from "@reprise/protocol"
import { Clock, Effect, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { cookieName, isSession, issueSession, sessionMs } from "../../console/sessionCookie.ts"
import type { Visitor } from "../../console/visitor.ts"
import { isSame, signWith } from "../signing.ts"
import { ConsoleSources } from "./ConsoleSources.ts"
import { bodyOf, data, failure, orFailure } from "./replies.ts"
import { Visiting } from "./Visiting.ts"

const wrongToken = failure(401, {
  code: "wrong-token",
  message: "That is not the token of this console.",
  hint: "'reprise up --web' prints the link, and names the file that holds the token."
})

export interface SignInOptions {
  /** Of answerers; absent: only a proxy signs in. */
  readonly token?: Redacted.Redacted
  /** Of viewers; absent: there are none. */
  readonly viewerToken?: Redacted.Redacted
  readonly port: number
  /** Browsers reach the console by HTTPS only. */
  readonly isSecure: boolean
}

const encodeSession = Schema.encodeSync(ConsoleSession)

/** Who is signed in: by the cookie, or by a proxy. */
const session = Effect.gen(function* () {
  const visitor = (yield* Visiting) ?? { role: "viewer" }
  const { repository } = yield* ConsoleSources
  return data(encodeSession({ ...visitor, hasRepository: repository !== undefined }))
})

/** Each role has a token, and its cookies are signed with it: a new token signs out those of its role. */
export const makeSignIn = ({ isSecure, port, token, viewerToken }: SignInOptions) => {
  const entrances: ReadonlyArray<{ readonly role: ConsoleRole; readonly token: Redacted.Redacted }> = [
    ...(token === undefined ? [] : [{ role: "answerer", token } as const]),
    ...(viewerToken === undefined ? [] : [{ role: "viewer", token: viewerToken } as const])
  ]
  const name = cookieName(port)
  const cookie = { path: "/", httpOnly: true, sameSite: "strict", secure: isSecure } as const

  const signIn = Effect.gen(function* () {
    const given = yield* bodyOf(ConsoleSignIn)
    const entrance = entrances.find((one) => isSame(given.token, Redacted.value(one.token)))
    if (entrance === undefined) return wrongToken
    const value = issueSession(randomUUID(), yield* Clock.currentTimeMillis, signWith(entrance.token))
    return HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty(), name, value, {
      ...cookie,
      maxAge: sessionMs
    })
  })

  const signOut = Effect.succeed(
    HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty(), name, "", { ...cookie, maxAge: 0 })
  )

  return {
    visitorOf: (cookies: Readonly<Record<string, string>>) =>
      Effect.map(Clock.currentTimeMillis, (now): Visitor | undefined => {
        const entrance = entrances.find((one) => isSession(cookies[name], now, signWith(one.token), isSame))
        return entrance === undefined ? undefined : { role: entrance.role }
      }),
    routes: [
      // Only who is signed in gets here.
      HttpRouter.route("GET", "/api/session", session),
      HttpRouter.route("POST", "/api/session", orFailure(signIn)),
      HttpRouter.route("DELETE", "/api/session", signOut)
    ] as const
  }
}
