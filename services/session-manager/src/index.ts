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
