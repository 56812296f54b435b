import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"

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
