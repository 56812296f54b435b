import { askSuite } from "./support/askSuite.ts"
import { inputSuite } from "./support/inputSuite.ts"
import { onJetStream, onServer } from "./support/systems.ts"

onServer("on JetStream", () => {
  inputSuite("every input", onJetStream)
  askSuite("asking", onJetStream)
})
