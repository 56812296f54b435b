import { durabilitySuite } from "./support/durabilitySuite.ts"
import { memoryWorld } from "./support/systems.ts"

durabilitySuite("durable intent, on a broker in memory", memoryWorld)
