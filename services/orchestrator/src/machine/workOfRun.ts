/** Where the work of a run is done, as its view tells it. */
import type { WorkOnHost } from "@reprise/actor"
import { anyHost, RunView } from "@reprise/protocol"
import { Option, Schema } from "effect"

const { host, status } = RunView.fields
const decodePlace = Schema.decodeUnknownOption(Schema.Struct({ host, status }))
const open: ReadonlyArray<RunView["status"]> = ["running", "waiting", "paused"]

/** A run that no host has taken yet goes on wherever there is one. */
export const workOfRun: WorkOnHost = {
  by: ["session-manager", "workspace"],
  hostOf: (view) =>
    Option.getOrUndefined(
      decodePlace(view).pipe(
        Option.filter((run) => open.includes(run.status)),
        Option.map((run) => run.host ?? anyHost)
      )
    )
}
