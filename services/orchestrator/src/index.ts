export { runActor } from "./actor/actor.ts"
export { layer, watchWith } from "./service.ts"
