/**
 * The broker: `Nats` (one connection), `ensureStreams` and `ensureConsumer` (its storage), `publish` (one message, stored
 * once), `EmbeddedServer` (a private nats-server for one directory), `attach` (the server that another process runs),
 * `locateServer` and `health` (for doctor). Requests fail with a `BrokerError`; match its `_tag`, never its text.
 */
export { accountsConfig, keyVariable, type Login } from "./access/accountsConfig.ts"
export { Identity, identities, inboxOf } from "./access/Identity.ts"
export { derivedSeed, newSeed, publicKeyOf, type Seed, seedIn } from "./access/nkeys.ts"
export { type Permissions, permissionsOf, type Tenant } from "./access/permissions.ts"
export * from "./BrokerError.ts"
export type { Difference } from "./compareConfig.ts"
export * from "./embedded/EmbeddedError.ts"
export * from "./embedded/EmbeddedServer.ts"
export {
  connectionTo,
  describeEndpoint,
  Endpoint,
  isSameServer,
  readEndpoint,
  systemConnectionTo
} from "./embedded/Endpoint.ts"
export * from "./embedded/Ownership.ts"
export {
  checkFormat,
  DirectoryUnusable,
  DiskFull,
  NewerFormat,
  onDisk,
  paths as statePaths,
  prepareDirectory,
  requireRoom
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
