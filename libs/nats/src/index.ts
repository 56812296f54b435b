/** The broker: connection, streams, the embedded server, health. */
export * from "./BrokerError.ts"
export type { Difference } from "./compareConfig.ts"
export * from "./embedded/EmbeddedError.ts"
export * from "./embedded/EmbeddedServer.ts"
export {
  credentialsOf,
  describeEndpoint,
  Endpoint,
  readEndpoint,
  systemCredentialsOf
} from "./embedded/Endpoint.ts"
export * from "./embedded/Ownership.ts"
export {
  checkFormat,
  DirectoryUnusable,
  DiskFull,
  NewerFormat,
  paths as statePaths,
  prepareDirectory
} from "./embedded/StateDirectory.ts"
export * from "./ensureConsumer.ts"
export * from "./ensureStreams.ts"
export * from "./health.ts"
export * from "./locate/locateServer.ts"
export { type ServerBinary, ServerUnusable } from "./locate/ServerBinary.ts"
export * from "./Nats.ts"
export * from "./publish.ts"
export * from "./ServerVersion.ts"
export { type ServerStatistics, statisticsOverHttp, statisticsOverSystem } from "./serverStatistics.ts"
export * from "./streams.ts"
