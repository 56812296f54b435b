/**
 * A route of the console, with who may use it beside it. There is no other way to a route: `makeRouteTable` makes the
 * router of these alone, and what it matches says who is let in and which headers the answer has.
 */
import { Context, Effect } from "effect"
import { FindMyWay, type HttpServerResponse } from "effect/http"
import type { Access } from "../../console/admission.ts"
import type { Keeping } from "../../console/headers.ts"

/** What the router has read in the address of a request. Nobody else reads it. */
export interface RequestAddress {
  /** Parts of the path by the names that the route gives them, decoded. */
  readonly parts: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | ReadonlyArray<string>>>
}

export class Matched extends Context.Service<Matched, RequestAddress>()("@reprise/gate/Matched") {}

/** All values of a name in the query. */
export const queryValues = (name: string): Effect.Effect<ReadonlyArray<string>, never, Matched> =>
  Matched.use(({ query }) => Effect.succeed([query[name] ?? []].flat()))

export interface Route<R = never> {
  /** HEAD is answered as GET, without the body. */
  readonly method: "GET" | "POST" | "DELETE"
  /** `:name` stands for one part, `:name(^REGEX$)` for one part of that form. */
  readonly path: `/${string}`
  readonly access: Access
  /** How long browsers may keep the answer. Default: never. */
  readonly keeping?: Keeping
  /** The answer does not end by itself. */
  readonly isStream?: boolean
  /** Its work grows with what is stored, so a client has one such answer at a time (docs/console.md#limits). */
  readonly readsMuch?: boolean
  readonly reply: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, R>
}

export interface Match<R> {
  readonly route: Route<R>
  readonly address: RequestAddress
}

/**
 * Finds the route for a method and an address, as it came. Each path has one spelling, but that letters may be escaped:
 * no other case, no doubled slash and no slash at the end is taken for it. Undefined: there is no such route.
 */
export const makeRouteTable = <R>(routes: ReadonlyArray<Route<R>>) => {
  const router = FindMyWay.make<Route<R>>({
    caseSensitive: true,
    ignoreDuplicateSlashes: false,
    ignoreTrailingSlash: false
  })
  for (const route of routes) router.on(route.method, route.path, route)
  return (method: string, url: string): Match<R> | undefined => {
    const found = router.find(method === "HEAD" ? "GET" : method, url)
    return found && { route: found.handler, address: { parts: found.params, query: found.searchParams } }
  }
}
