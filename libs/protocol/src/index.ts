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
export { EscalationCommand, EscalationView, GateEvent } from "./contracts/gate.ts"
export { OrchestratorCommand, OrchestratorEvent, PhaseView, RunView } from "./contracts/orchestrator.ts"
export { ReviewCommand, ReviewEvent, ReviewView } from "./contracts/reviewer.ts"
export { SessionChoice, SessionCommand, SessionEvent, SessionView } from "./contracts/sessionManager.ts"
export { type Addressed, addressing, to } from "./contracts/to.ts"
export { WorkspaceCommand, WorkspaceEvent, WorkspaceView } from "./contracts/workspace.ts"
export * from "./envelope.ts"
export * from "./failure.ts"
export * from "./ids.ts"
export * from "./model.ts"
export * from "./options.ts"
export * from "./subjects.ts"
