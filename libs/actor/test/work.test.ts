import { memoryWorld } from "./support/systems.ts"
import { workSuite } from "./support/workSuite.ts"

workSuite("work and timers, on a broker in memory", memoryWorld)
