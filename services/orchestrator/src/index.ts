export { runActor } from "./domain/runActor.ts"
export { layer } from "./service.ts"
