// @module-tag long
import { durabilitySuite } from "./support/durabilitySuite.ts"
import { onJetStream, onServer } from "./support/systems.ts"

onServer("on JetStream", () => {
  durabilitySuite("durable intent", { ...onJetStream, racingCommands: 334 })
})
