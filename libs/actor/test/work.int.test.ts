import { jetStreamWorld } from "./support/systems.ts"
import { workSuite } from "./support/workSuite.ts"

workSuite("work and timers, on JetStream", jetStreamWorld)
