export { sessionActor } from "./machine/actor.ts"
export {
  actors,
  actorsWith,
  defaultServiceSettings,
  layer,
  layerWith,
  type ServiceSettings,
  workers,
  workersWith
} from "./service.ts"
export { HeadCommit } from "./work/headCommit.ts"
export { UncommittedChanges } from "./work/uncommitted.ts"
