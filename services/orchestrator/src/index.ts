export { runActor } from "./machine/actor.ts"
export { questions, transitions } from "./run/transitions.ts"
export { layer, watchWith } from "./service.ts"
