export { runService } from "./runService.ts"
export { launchService, remoteConnection, type ServiceSettings, serviceSystem } from "./serviceSystem.ts"
