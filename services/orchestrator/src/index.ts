export { runActor } from "./actor/actor.ts"
export { questions, transitions } from "./actor/transitions.ts"
export { layer, watchWith } from "./service.ts"
