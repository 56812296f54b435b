/** Signing in: the token is exchanged for a cookie, which scripts cannot read and other sites cannot send. */
import { randomUUID } from "node:crypto"
import { ConsoleSignIn } from "@reprise/protocol"
import { Clock, Effect, Redacted } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { cookieName, isSession, issueSession, sessionMs } from "../../console/sessionCookie.ts"
import { isSame, signWith } from "../signing.ts"
import { bodyOf, failure, orFailure } from "./replies.ts"

const wrongToken = failure(401, {
  code: "wrong-token",
  message: "That is not the token of this console.",
  hint: "'reprise up --web' prints the link, and names the file that holds the token."
})

export interface SignInOptions {
  readonly token: Redacted.Redacted
  readonly port: number
  /** Browsers reach the console by HTTPS only. */
  readonly isSecure: boolean
}

export const makeSignIn = ({ isSecure, port, token }: SignInOptions) => {
  const sign = signWith(token)
  const name = cookieName(port)
  const cookie = { path: "/", httpOnly: true, sameSite: "strict", secure: isSecure } as const

  const signIn = Effect.gen(function* () {
    const given = yield* bodyOf(ConsoleSignIn)
    if (!isSame(given.token, Redacted.value(token))) return wrongToken
    const session = issueSession(randomUUID(), yield* Clock.currentTimeMillis, sign)
    return HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty(), name, session, {
      ...cookie,
      maxAge: sessionMs
    })
  })

  const signOut = Effect.succeed(
    HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty(), name, "", { ...cookie, maxAge: 0 })
  )

  return {
    isSignedIn: (cookies: Readonly<Record<string, string>>) =>
      Effect.map(Clock.currentTimeMillis, (now) => isSession(cookies[name], now, sign, isSame)),
    routes: [
      // Only who is signed in gets here.
      HttpRouter.route("GET", "/api/session", Effect.succeed(HttpServerResponse.empty())),
      HttpRouter.route("POST", "/api/session", orFailure(signIn)),
      HttpRouter.route("DELETE", "/api/session", signOut)
    ] as const
  }
}
