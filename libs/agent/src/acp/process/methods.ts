/** The methods of the Agent Client Protocol that are used. The SDK has them too, and is loaded only with the first agent. */
export const protocolVersion = 1

export const agentMethods = {
  initialize: "initialize",
  authenticate: "authenticate",
  newSession: "session/new",
  loadSession: "session/load",
  /** Not part of the stable protocol: an agent says in its capabilities that it has it. */
  forkSession: "session/fork",
  prompt: "session/prompt",
  cancel: "session/cancel",
  /** No agent has it, as its name says: an agent refuses it after all that it was asked before. */
  told: "_reprise/told",
  setConfigOption: "session/set_config_option"
} as const

export const clientMethods = {
  requestPermission: "session/request_permission",
  update: "session/update",
  createElicitation: "elicitation/create"
} as const
