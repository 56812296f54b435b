/** Where the work of a session is done, as its view tells it. */
import type { WorkOnHost } from "@reprise/actor"
import { SessionView } from "@reprise/protocol"
import { Option, Schema } from "effect"
import { isEnded } from "../session/state.ts"

const { host, status } = SessionView.fields
const decodePlace = Schema.decodeUnknownOption(Schema.Struct({ host, status }))

export const workOfSession: WorkOnHost = {
  by: ["session-manager"],
  hostOf: (view) =>
    Option.getOrUndefined(
      decodePlace(view).pipe(
        Option.filter((session) => !isEnded(session.status)),
        Option.map((session) => session.host)
      )
    )
}
