export { Broker, type BrokerOptions, type TestBroker, TestBrokerError } from "./broker/Broker.ts"
export { containerBroker, containerBrokerWith } from "./broker/containerBroker.ts"
export { localBroker, localBrokerWith } from "./broker/localBroker.ts"
export { type ServerImage, serverImage } from "./broker/serverImage.ts"
export { lacksTestBroker, testBroker } from "./broker/testBroker.ts"
export { makeCertificate, trusting } from "./certificate.ts"
export { lacksAgent, lacksClaude, linkClaudeSdk } from "./claude.ts"
export {
  ContainerEngine,
  containerEngine,
  type Engine,
  hasContainerEngine,
  NoContainerEngine
} from "./containers/ContainerEngine.ts"
export { skippedNotice } from "./containers/locateEngine.ts"
export { programContext } from "./containers/programImage.ts"
export {
  type FaultRule,
  FaultyProxy,
  type FaultyProxyShape,
  makeFaultyProxy,
  type ProxyFault
} from "./FaultyProxy.ts"
export { type GitServerHandle, type GitServerOptions, startGitServer } from "./gitServer.ts"
export { findViolation, type Model, type Operation } from "./linearizable.ts"
export { type MailServerHandle, type MailServerOptions, type ReceivedMail, startMailServer } from "./mailServer.ts"
export type { Fate } from "./natsProxy/Direction.ts"
export { type Fates, makeNatsProxy, type NatsProxy, type Passing } from "./natsProxy/NatsProxy.ts"
export { stormOf } from "./natsProxy/storm.ts"
export { decryptPush, type PushService, type SubscribedBrowser, startPushService, vapidClaims } from "./pushService.ts"
export { type Received, type ReceiverHandle, type Reply, startReceiver } from "./receiver.ts"
