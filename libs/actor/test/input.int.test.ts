import { inputSuite } from "./support/inputSuite.ts"
import { jetStreamWorld } from "./support/systems.ts"

inputSuite("every input, on JetStream", jetStreamWorld)
