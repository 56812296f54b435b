import { agentRuntimeContract } from "./contract/contract.ts"
import { openCodeWorld } from "./contract/openCodeWorld.ts"

agentRuntimeContract("OpenCode", openCodeWorld)
