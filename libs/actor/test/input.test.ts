import { inputSuite } from "./support/inputSuite.ts"
import { memoryWorld } from "./support/systems.ts"

inputSuite("every input, on a broker in memory", memoryWorld)
