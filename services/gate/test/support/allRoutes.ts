/** The routes of the console as it has them, and addresses that they match. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type { EscalationId } from "@reprise/protocol"
import { Effect, Redacted } from "effect"
import { noneEnded } from "../../src/console/session.ts"
import { consoleRoutes } from "../../src/work/console/consoleRoutes.ts"
import type { Route } from "../../src/work/console/Route.ts"
import { makeSignIn } from "../../src/work/console/signIn.ts"
import { pages, token } from "./consoleOverMemory.ts"

export const allRoutes = Effect.gen(function* () {
  const signIn = makeSignIn({
    token: Redacted.make(token),
    mostSessions: 1,
    endedFile: { before: { answerer: noneEnded, viewer: noneEnded }, save: () => Effect.void }
  })
  return yield* consoleRoutes(signIn, { pages: yield* pages })
}).pipe(Effect.provide(NodeHttpServer.layerHttpServices))

/** The path of a route, with what is there in place of its parts. */
export const filledIn = ({ path }: Pick<Route, "path">, question: EscalationId): string =>
  path
    .split("/")
    .map((part) => {
      if (!part.startsWith(":")) return part
      const name = /^:(\w+)/.exec(part)?.[1]
      if (name === "file") return "main-abc.js"
      if (name === "page") return "runs"
      return path.startsWith("/api/questions") ? question : question.replace(/-e1$/, "")
    })
    .join("/")
