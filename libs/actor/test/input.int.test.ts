import { askSuite } from "./support/askSuite.ts"
import { inputSuite } from "./support/inputSuite.ts"
import { jetStreamWorld, onServer } from "./support/systems.ts"

onServer("on JetStream", () => {
  inputSuite("every input", jetStreamWorld)
  askSuite("asking", jetStreamWorld)
})
