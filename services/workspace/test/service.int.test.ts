import { inMemory, onJetStream } from "./support/brokers.ts"
import { serviceContract } from "./support/serviceContract.ts"

serviceContract("the workspace service on a broker in memory", inMemory)
serviceContract("the workspace service on JetStream", onJetStream)
