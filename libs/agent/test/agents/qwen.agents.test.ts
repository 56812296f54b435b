import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"

agentRuntimeContract("qwen", namedAgentWorld("qwen"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "usage",
  "fork",
  "pieces",
  ...untoldInSandbox
])
