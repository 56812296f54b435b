/**
 * The pages, and the files that they are built of. They hold no data, so everybody may have them. The browser shows the
 * page of an address; here all of them are the same file.
 */
import { readdir } from "node:fs/promises"
import { Effect } from "effect"
import { HttpServerRequest, HttpStaticServer } from "effect/http"
import { Matched, type Route } from "./Route.ts"

/** Letters alone, so that nothing which could be read as an address of data is answered by a page. */
const pages = ["/", "/:page(^(?!api$)[a-z]+$)", "/:page(^(?!api$)[a-z]+$)/:id(^[\\w-]+$)"] as const

const isPlainName = (name: string): boolean => /^[\w-][\w.-]*$/.test(name)

/** @param root the folder of the built pages */
export const pageRoutes = Effect.fnUntraced(function* (root: string) {
  const files = yield* HttpStaticServer.make({ root })

  /** A file by the name that the router has read; the address of the request is not looked at again. */
  const file = (url: string) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.provideService(files, HttpServerRequest.HttpServerRequest, request.modify({ url }))
    )

  const asset = Effect.flatMap(Matched, ({ parts }) => file(`/assets/${encodeURIComponent(parts["file"] ?? "")}`))

  const entries = yield* Effect.promise(() => readdir(root, { withFileTypes: true }))
  const besideThePage = entries.filter((entry) => entry.isFile() && isPlainName(entry.name)).map(({ name }) => name)

  return [
    ...pages.map(
      (path) =>
        ({
          method: "GET",
          path,
          access: "public",
          keeping: "while unchanged",
          reply: file("/index.html")
        }) satisfies Route<unknown>
    ),
    ...besideThePage.map(
      (name) =>
        ({
          method: "GET",
          path: `/${name}`,
          access: "public",
          keeping: "while unchanged",
          reply: file(`/${name}`)
        }) satisfies Route<unknown>
    ),
    {
      method: "GET",
      path: "/assets/:file(^[\\w-][\\w.-]*$)",
      access: "public",
      keeping: "forever",
      reply: asset
    } satisfies Route<unknown>
  ]
})
