import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"
import { killContract } from "../contract/killContract.ts"

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

killContract("qwen", namedAgentWorld("qwen"))
