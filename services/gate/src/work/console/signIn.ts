/** Signing in: the token is exchanged for a session, which whoever has it sends along as a header. */
import { randomUUID } from "node:crypto"
import {
  type ConsoleRole,
  ConsoleSession,
  ConsoleSignedIn,
  ConsoleSignIn,
  consoleSessionHeader,
  defined
} from "@reprise/protocol"
import { Clock, Effect, Redacted, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { claimIn, endOf, issueSession, makeSessions, type Sessions } from "../../console/session.ts"
import type { Visitor } from "../../console/visitor.ts"
import { isSame, signWith } from "../signing.ts"
import { ConsoleSources } from "./ConsoleSources.ts"
import type { EndedFile } from "./endedFile.ts"
import type { Route } from "./Route.ts"
import { bodyOf, data, failure } from "./replies.ts"
import { Visiting } from "./Visiting.ts"

const wrongToken = failure(401, {
  code: "wrong-token",
  message: "That is not the token of this console.",
  hint: "'reprise up --web' prints the link, and names the file that holds the token."
})

export interface SignInOptions {
  /** A key that nobody but the console has; absent: who has a token can make sessions of it. */
  readonly key?: Redacted.Redacted
  /** Of answerers; absent: only a proxy signs in. */
  readonly token?: Redacted.Redacted
  /** Of viewers; absent: there are none. */
  readonly viewerToken?: Redacted.Redacted
  /** Of one token: the oldest session ends with the next one. */
  readonly mostSessions: number
  readonly endedFile: EndedFile
}

const encodeSession = Schema.encodeSync(ConsoleSession)
const encodeSignedIn = Schema.encodeSync(ConsoleSignedIn)

/** Who is signed in: by a session, or by a proxy. */
const session = Effect.gen(function* () {
  const { role, user } = (yield* Visiting) ?? { role: "viewer" }
  const { repository } = yield* ConsoleSources
  return data(encodeSession({ role, ...defined({ user }), hasRepository: repository !== undefined }))
})

/** Each role has a token, and its sessions are signed for it: a new token signs out those of its role. */
export const makeSignIn = ({ endedFile, key, mostSessions, token, viewerToken }: SignInOptions) => {
  const { before } = endedFile
  const sessionsOf = {
    answerer: makeSessions(mostSessions, before.answerer),
    viewer: makeSessions(mostSessions, before.viewer)
  }
  const entrance = (role: ConsoleRole, token: Redacted.Redacted) => ({
    role,
    token,
    sign: signWith(key === undefined ? token : Redacted.make(signWith(key)(`sessions of ${Redacted.value(token)}`))),
    sessions: sessionsOf[role]
  })
  const entrances = [
    ...(token === undefined ? [] : [entrance("answerer", token)]),
    ...(viewerToken === undefined ? [] : [entrance("viewer", viewerToken)])
  ]

  const signIn = Effect.gen(function* () {
    const given = yield* bodyOf(ConsoleSignIn)
    const entrance = entrances.find((one) => isSame(given.token, Redacted.value(one.token)))
    if (entrance === undefined) return wrongToken
    const session = issueSession(randomUUID(), yield* Clock.currentTimeMillis, entrance.sign)
    return data(encodeSignedIn({ session }))
  })

  /** The claim of a session, and the entrance that it was issued at; undefined: it is none of this console. */
  const find = (session = "", now: number) => {
    for (const entrance of entrances) {
      const claim = claimIn(session, now, entrance.sign, isSame)
      if (claim !== undefined) return { ...entrance, claim }
    }
    return undefined
  }

  // Whoever leaves meanwhile stays signed out, and no later list is replaced by an earlier one.
  const save = Effect.uninterruptible(
    endedFile.save(() => ({ answerer: sessionsOf.answerer.ended(), viewer: sessionsOf.viewer.ended() }))
  )

  /** Another session may have made room, which must not keep this one out. */
  const counts = Effect.fnUntraced(function* (sessions: Sessions, claim: string) {
    const before = sessions.ended()
    const isIn = sessions.counts(claim)
    if (sessions.ended() !== before) {
      yield* Effect.catchDefect(save, (defect) =>
        Effect.logWarning(
          "A session that ended for another one may count again after a restart: it was not kept.",
          defect
        )
      )
    }
    return isIn
  })

  const signOut = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const found = find(headers[consoleSessionHeader], yield* Clock.currentTimeMillis)
    found?.sessions.end(found.claim)
    yield* save
    return HttpServerResponse.empty()
  })

  return {
    /** `session`: the header as it came. */
    visitorOf: (session: string | undefined) =>
      Effect.gen(function* (): Effect.fn.Return<Visitor | undefined> {
        const now = yield* Clock.currentTimeMillis
        const found = find(session, now)
        if (found === undefined || !(yield* counts(found.sessions, found.claim))) return undefined
        const { claim, role, sessions } = found
        const onEnd = (listener: () => void) => {
          const tooOld = setTimeout(listener, endOf(claim) - now).unref()
          const stop = sessions.onEnd(claim, listener)
          return () => {
            clearTimeout(tooOld)
            stop()
          }
        }
        return { role, onEnd }
      }),
    routes: [
      { method: "GET", path: "/api/session", access: "reader", reply: session },
      { method: "POST", path: "/api/session", access: "own proof", reply: signIn },
      { method: "DELETE", path: "/api/session", access: "reader", reply: signOut }
    ] satisfies ReadonlyArray<Route<unknown>>
  }
}
