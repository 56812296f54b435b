/**
 * Which requests the console takes. A page of another origin, another name for this machine, and whoever has not signed
 * in get nothing (docs/console.md#who-gets-in).
 */
import type { ApiError, ConsoleRole } from "@reprise/protocol"
import { Result } from "effect"

/**
 * Who may use a route. `public`: everybody, because it holds no data. `own proof`: whoever sends the token or a signed
 * link in the body. `reader`: whoever is signed in. `answerer`: nobody who is only a viewer.
 */
export type Access = "public" | "own proof" | "reader" | "answerer"

/** What answers a request that no route matches: it says so only to people who are signed in. */
export const accessToNothing: Access = "reader"

/** A request, as far as it decides whether it is taken. Its path is not here: the router alone reads that. */
export interface Asked {
  /** Of the route that the router matched. */
  readonly access: Access
  readonly method: string
  readonly host: string | undefined
  readonly origin: string | undefined
  /** `Sec-Fetch-Site`: browsers say where a request comes from. */
  readonly fetchSite: string | undefined
  readonly contentType: string | undefined
  /** Absent: not signed in. */
  readonly role?: ConsoleRole
}

export interface Denial extends ApiError {
  readonly status: 401 | 403 | 415 | 421
}

/** Where people reach the console: `http://127.0.0.1:7417`. */
export const originsOf = (port: number, proxy: string | undefined): ReadonlyArray<string> => [
  `http://127.0.0.1:${port}`,
  `http://localhost:${port}`,
  `http://[::1]:${port}`,
  ...(proxy === undefined ? [] : [new URL(proxy).origin])
]

const deny = (status: Denial["status"], code: string, message: string, hint: string): Result.Result<never, Denial> =>
  Result.fail({ status, code, message, hint })

/** A page could make its own name lead to this machine; the browser then still says that name. */
const requireHost = ({ host }: Asked, origins: ReadonlyArray<string>): Result.Result<void, Denial> =>
  origins.some((origin) => new URL(origin).host === host)
    ? Result.void
    : deny(
        421,
        "wrong-host",
        "The console does not answer under this name.",
        "Open it under the address that 'reprise up --web' prints, or set web.origin to that of your proxy."
      )

const isRead = (method: string): boolean => method === "GET" || method === "HEAD"

/** A proxy's own cookie may sign in, and pages of other ports of its machine count as the same site as the console's. */
const requireOwnPage = (asked: Asked, origins: ReadonlyArray<string>): Result.Result<void, Denial> => {
  const { fetchSite, method, origin } = asked
  const isForeign =
    (fetchSite !== undefined && fetchSite !== "same-origin" && !(fetchSite === "none" && isRead(method))) ||
    (origin === undefined ? !isRead(method) : !origins.includes(origin))
  return isForeign
    ? deny(403, "cross-origin", "Only the console's own pages may do this.", "Open the console and do it there.")
    : Result.void
}

const requireJson = ({ contentType = "", method }: Asked): Result.Result<void, Denial> =>
  isRead(method) || method === "DELETE" || /^application\/json\s*(;|$)/i.test(contentType)
    ? Result.void
    : deny(415, "not-json", "The console takes JSON only.", "Send it with Content-Type: application/json.")

const requireSession = ({ access, role }: Asked): Result.Result<void, Denial> =>
  role !== undefined || access === "own proof"
    ? Result.void
    : deny(
        401,
        "signed-out",
        "You are not signed in, or your session has expired.",
        "Open the link that 'reprise up --web' prints, or sign in with the token."
      )

const requireAnswerer = ({ access, role }: Asked): Result.Result<void, Denial> =>
  access !== "answerer" || role === "answerer"
    ? Result.void
    : deny(
        403,
        "viewer",
        "You are signed in as a viewer: you see everything, and can answer, start and change nothing.",
        "Sign in with the answerers' link, or ask whoever runs Reprise here for it."
      )

export const admit = (asked: Asked, origins: ReadonlyArray<string>): Result.Result<void, Denial> =>
  Result.gen(function* () {
    yield* requireHost(asked, origins)
    if (asked.access === "public") return
    yield* requireOwnPage(asked, origins)
    yield* requireJson(asked)
    yield* requireSession(asked)
    yield* requireAnswerer(asked)
  })
