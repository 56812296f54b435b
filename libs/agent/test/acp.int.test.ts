// @module-tag long
import { acpWorld } from "./contract/acpWorld.ts"
import { agentRuntimeContract } from "./contract/contract.ts"
import { killContract } from "./contract/killContract.ts"

agentRuntimeContract("OpenCode over the Agent Client Protocol", acpWorld, ["questions", "waits", "forks in part"])

killContract("OpenCode over the Agent Client Protocol", acpWorld)
