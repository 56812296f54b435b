import { askSuite } from "./support/askSuite.ts"
import { inputSuite } from "./support/inputSuite.ts"
import { memoryWorld } from "./support/systems.ts"

inputSuite("every input, on a broker in memory", memoryWorld)
askSuite("asking, on a broker in memory", memoryWorld)
