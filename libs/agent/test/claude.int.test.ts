// @module-tag long
import { claudeWorld } from "./contract/claudeWorld.ts"
import { agentRuntimeContract } from "./contract/contract.ts"

agentRuntimeContract("Claude", claudeWorld)
