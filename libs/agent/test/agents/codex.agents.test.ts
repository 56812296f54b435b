import { namedAgentWorld, untoldInSandbox } from "../contract/acpWorld.ts"
import { agentRuntimeContract } from "../contract/contract.ts"
import { killContract } from "../contract/killContract.ts"

agentRuntimeContract("codex", namedAgentWorld("codex"), [
  "questions",
  "forks in part",
  "waits",
  "attach",
  "tries",
  "permissions",
  ...untoldInSandbox
])

killContract("codex", namedAgentWorld("codex"))
