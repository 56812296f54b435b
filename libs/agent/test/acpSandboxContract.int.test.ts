// @module-tag long
/** The contract of the port on an agent that runs in the sandbox as a whole, with its kills. */

import { describe } from "@effect/vitest"
import { canSandbox } from "@reprise/sandbox/testing"
import { sandboxedAcpWorld } from "./contract/acpWorld.ts"
import { agentRuntimeContract } from "./contract/contract.ts"

const sandboxed = await canSandbox()

// Commands in the sandbox need no permission; what they may do there is tested beside.
describe.skipIf(!sandboxed)("in the sandbox", () => {
  agentRuntimeContract("OpenCode over the Agent Client Protocol", sandboxedAcpWorld, [
    "questions",
    "waits",
    "forks in part",
    "permissions"
  ])
})
