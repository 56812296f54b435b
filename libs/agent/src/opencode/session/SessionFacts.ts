/** Facts about OpenCode's sessions: their parents, directories and permission modes. */
import type { Session } from "@opencode-ai/sdk/v2/client"
import { PermissionMode } from "@reprise/protocol"
import { Effect, Option, Schema } from "effect"
import type { Calls } from "../server/calls.ts"

export interface SessionFact {
  readonly id: string
  readonly parent: string | undefined
  readonly directory: string
  /** None for a session that Reprise did not make. */
  readonly mode: Option.Option<PermissionMode>
}

const decodeMetadata = Schema.decodeUnknownOption(
  Schema.Struct({ reprise: Schema.Struct({ permissions: PermissionMode }) })
)

const factOf = (session: Session): SessionFact => ({
  id: session.id,
  parent: session.parentID,
  directory: session.directory,
  mode: Option.map(decodeMetadata(session.metadata), ({ reprise }) => reprise.permissions)
})

export class SessionFacts {
  readonly #known = new Map<string, SessionFact>()

  remember(session: Session): SessionFact {
    const fact = factOf(session)
    this.#known.set(session.id, fact)
    return fact
  }

  forget(id: string): void {
    this.#known.delete(id)
  }

  /** The root session as far as it is known; asks nobody. */
  rootOf(id: string): string {
    let root = id
    for (let depth = 0; depth < 16; depth++) {
      const parent = this.#known.get(root)?.parent
      if (parent === undefined) break
      root = parent
    }
    return root
  }

  /** None when OpenCode does not know the session, or does not answer now. */
  find(calls: Calls, id: string): Effect.Effect<Option.Option<SessionFact>> {
    return Effect.suspend(() => {
      const known = this.#known.get(id)
      if (known !== undefined) return Effect.succeed(Option.some(known))
      return calls
        .once("session", (client, signal) => client.session.get({ sessionID: id }, { signal }), { timeoutMs: 5000 })
        .pipe(
          Effect.map((session) => Option.some(this.remember(session))),
          Effect.orElseSucceed(() => Option.none<SessionFact>())
        )
    })
  }

  /** The root session; asks OpenCode for parents that are not known. */
  findRoot(calls: Calls, id: string): Effect.Effect<Option.Option<SessionFact>> {
    return Effect.flatMap(this.find(calls, id), (fact) =>
      Option.isSome(fact) && fact.value.parent !== undefined
        ? this.findRoot(calls, fact.value.parent)
        : Effect.succeed(fact)
    )
  }
}
