export { escalationActor } from "./actor/actor.ts"
export { layer } from "./service.ts"
