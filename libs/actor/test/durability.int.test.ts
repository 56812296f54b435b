import { durabilitySuite } from "./support/durabilitySuite.ts"
import { jetStreamWorld, onServer } from "./support/systems.ts"

onServer("on JetStream", () => {
  durabilitySuite("durable intent", jetStreamWorld)
})
