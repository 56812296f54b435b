import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"
import { killContract } from "../contract/killContract.ts"

agentRuntimeContract("claude-agent-acp", namedAgentWorld("claude-agent-acp"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "tries",
  ...untoldInSandbox
])

killContract("claude-agent-acp", namedAgentWorld("claude-agent-acp"))
