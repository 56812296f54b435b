// @module-tag long
import { Effect } from "effect"
import { killTable } from "../harness/killTable.ts"
import { withAgentRuntime } from "../harness/openCodeUser.ts"

killTable({
  runtime: "opencode",
  mark: "REPRISE_OPENCODE_STATE",
  kill: ({ killOpenCode }) => killOpenCode,
  withAgentRuntime,
  unasked: Effect.fnUntraced(function* (cluster, session) {
    yield* cluster.freezeOpenCode
    yield* session.start
    yield* Effect.eventually(session.view)
    return cluster.thawOpenCode
  })
})
