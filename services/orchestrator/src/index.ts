export { runActor } from "./domain/runActor.ts"
export { transitions } from "./domain/transitions.ts"
export { layer } from "./service.ts"
