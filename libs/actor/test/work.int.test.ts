import { drainedForGood, drainSuite } from "./support/drainSuite.ts"
import { roomSuite } from "./support/roomSuite.ts"
import { onJetStream, onServer, ownServerWorld } from "./support/systems.ts"
import { workSuite } from "./support/workSuite.ts"

onServer("on JetStream", () => {
  workSuite("work and timers", onJetStream)
  drainSuite("a host that is drained", onJetStream)
  roomSuite("a host with room for some work", onJetStream)
  drainedForGood("a host that was drained", ownServerWorld)
})
