/** Signing in: the token is exchanged for a cookie, which scripts cannot read and other sites cannot send. */
import { randomUUID } from "node:crypto"
import { type ConsoleRole, ConsoleSession, ConsoleSignIn } from "@reprise/protocol"
import { Clock, Effect, Redacted, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import {
  cookieName,
  cookiesNamed,
  issueSession,
  makeSessions,
  sessionIn,
  sessionMs
} from "../../console/sessionCookie.ts"
import type { Visitor } from "../../console/visitor.ts"
import { isSame, signWith } from "../signing.ts"
import { ConsoleSources } from "./ConsoleSources.ts"
import type { Route } from "./Route.ts"
import { bodyOf, data, failure } from "./replies.ts"
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
  /** Of one token: the oldest session ends with the next one. */
  readonly mostSessions: number
}

const encodeSession = Schema.encodeSync(ConsoleSession)

/** Who is signed in: by the cookie, or by a proxy. */
const session = Effect.gen(function* () {
  const { role, user } = (yield* Visiting) ?? { role: "viewer" }
  const { repository } = yield* ConsoleSources
  return data(encodeSession({ role, ...(user === undefined ? {} : { user }), hasRepository: repository !== undefined }))
})

/** Each role has a token, and its cookies are signed with it: a new token signs out those of its role. */
export const makeSignIn = ({ isSecure, mostSessions, port, token, viewerToken }: SignInOptions) => {
  const entrance = (role: ConsoleRole, token: Redacted.Redacted) => ({
    role,
    token,
    sessions: makeSessions(mostSessions)
  })
  const entrances = [
    ...(token === undefined ? [] : [entrance("answerer", token)]),
    ...(viewerToken === undefined ? [] : [entrance("viewer", viewerToken)])
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

  /** The sessions that a header of cookies names. */
  const sessionsIn = (cookies: string | undefined, now: number) =>
    cookiesNamed(name, cookies).flatMap((cookie) =>
      entrances.flatMap(({ role, sessions, token }) => {
        const session = sessionIn(cookie, now, signWith(token), isSame)
        return session === undefined ? [] : [{ role, session, sessions }]
      })
    )

  const signOut = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    for (const { session, sessions } of sessionsIn(headers["cookie"], yield* Clock.currentTimeMillis)) {
      sessions.end(session)
    }
    return HttpServerResponse.setCookieUnsafe(HttpServerResponse.empty(), name, "", { ...cookie, maxAge: 0 })
  })

  return {
    /** `cookies`: the header as it came. */
    visitorOf: (cookies: string | undefined) =>
      Effect.map(Clock.currentTimeMillis, (now): Visitor | undefined => {
        const found = sessionsIn(cookies, now).find(({ session, sessions }) => sessions.counts(session))
        return found === undefined ? undefined : { role: found.role }
      }),
    routes: [
      { method: "GET", path: "/api/session", access: "reader", reply: session },
      { method: "POST", path: "/api/session", access: "own proof", reply: signIn },
      { method: "DELETE", path: "/api/session", access: "reader", reply: signOut }
    ] satisfies ReadonlyArray<Route<unknown>>
  }
}
