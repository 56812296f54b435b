import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"

agentRuntimeContract("gemini", namedAgentWorld("gemini"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "fork",
  "models",
  ...untoldInSandbox
])
