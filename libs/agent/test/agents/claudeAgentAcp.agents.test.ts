import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"

agentRuntimeContract("claude-agent-acp", namedAgentWorld("claude-agent-acp"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "tries",
  ...untoldInSandbox
])
