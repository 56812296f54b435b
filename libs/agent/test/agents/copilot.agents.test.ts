import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"
import { killContract } from "../contract/killContract.ts"

agentRuntimeContract("copilot", namedAgentWorld("copilot"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "fork",
  "models",
  "refusals",
  "pieces",
  ...untoldInSandbox
])

killContract("copilot", namedAgentWorld("copilot"))
