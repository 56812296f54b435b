export * from "./agents.ts"
export * from "./console.ts"
export { type Addressed, addressing, to } from "./contracts/addressedCommands.ts"
export { ApiError, type ListFilter, queries } from "./contracts/Contract.ts"
export {
  type Askable,
  type CommandOf,
  contracts,
  type EventOf,
  type IdOf,
  idsAround,
  type OutcomeOf,
  outcomeOf,
  PublicEvent,
  type PublicEventType,
  type RefusalCode,
  type ViewOf
} from "./contracts/contracts.ts"
export { EscalationCommand, EscalationLine, EscalationView, GateEvent } from "./contracts/escalation.ts"
export { DrainHost, HostPresence, HostSlots, HostView } from "./contracts/hosts.ts"
export { LiveMessage, type LiveMessageType } from "./contracts/live.ts"
export { ReviewCommand, ReviewEvent, ReviewView } from "./contracts/review.ts"
export {
  AwaitedWork,
  OrchestratorCommand,
  OrchestratorEvent,
  PhaseView,
  Refusal,
  RunLine,
  RunView
} from "./contracts/run.ts"
export {
  ForkPoint,
  type PastTurn,
  SessionChoice,
  SessionCommand,
  SessionEvent,
  SessionsAtWork,
  SessionView
} from "./contracts/session.ts"
export { WorkspaceCommand, WorkspaceEvent, WorkspaceView } from "./contracts/workspace.ts"
export { type Defined, defined } from "./defined.ts"
export * from "./envelope.ts"
export * from "./failure.ts"
export * from "./gateKeys.ts"
export * from "./ids.ts"
export * from "./model.ts"
export * from "./options.ts"
export * from "./subjects.ts"
