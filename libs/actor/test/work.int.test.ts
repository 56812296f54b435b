import { drainedForGood, drainSuite } from "./support/drainSuite.ts"
import { pullLimitSuite } from "./support/pullLimitSuite.ts"
import { onJetStream, onServer, ownServerWorld } from "./support/systems.ts"
import { workSuite } from "./support/workSuite.ts"

onServer("on JetStream", () => {
  workSuite("work and timers", onJetStream)
  drainSuite("a host that is drained", onJetStream)
  pullLimitSuite("a host with room for some work", onJetStream)
  drainedForGood("a host that was drained", ownServerWorld)
})
