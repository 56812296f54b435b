import { durabilitySuite } from "./support/durabilitySuite.ts"
import { jetStreamWorld } from "./support/systems.ts"

durabilitySuite("durable intent, on JetStream", jetStreamWorld)
