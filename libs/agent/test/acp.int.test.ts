import { acpWorld } from "./contract/acpWorld.ts"
import { agentRuntimeContract } from "./contract/contract.ts"

agentRuntimeContract("OpenCode over the Agent Client Protocol", acpWorld, ["questions", "waits", "forks in part"])
