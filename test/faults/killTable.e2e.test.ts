import { Effect } from "effect"
import { attached } from "../harness/attach.ts"
import { killTable } from "../harness/killTable.ts"

killTable({
  runtime: "opencode",
  mark: "REPRISE_OPENCODE_STATE",
  kill: ({ killOpenCode }) => killOpenCode,
  attached,
  unasked: Effect.fnUntraced(function* (cluster, session) {
    yield* cluster.freezeOpenCode
    yield* session.start
    yield* Effect.eventually(session.view)
    return cluster.thawOpenCode
  })
})
