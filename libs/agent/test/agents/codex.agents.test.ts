import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"

agentRuntimeContract("codex", namedAgentWorld("codex"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "tries",
  "permissions",
  ...untoldInSandbox
])
