/** The sandbox for commands of agents and of repositories: what they may write, read and reach, and how they are run. */

export type { SandboxedAgent } from "./agentProgram.ts"
export type { ToolWords } from "./agentWrites.ts"
export { bearsCommands, commandFiles, commandFilesOf, nestedCommandFilesOf } from "./commandFiles.ts"
export { credentialPaths } from "./credentials.ts"
export type { Decider, RefusedWrite, Whose } from "./decider.ts"
export { type EngineHere, shortcomings } from "./engine.ts"
export type { Mount } from "./mounts.ts"
export type { OwnPlaces, Policy, SandboxSettings } from "./policy.ts"
export { layerSandbox, Sandbox, type SandboxShape, type Standing } from "./Sandbox.ts"
export { SandboxFault, type SandboxMode, type SandboxOptions } from "./SandboxHost.ts"
export { sessionFolder } from "./shellScript.ts"
export { findUsability, type Usability } from "./usability.ts"
