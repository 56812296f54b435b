import { Layer } from "effect"
import { ActorConfig, MemoryBroker } from "../src/index.ts"
import { brokerContract } from "./support/brokerContract.ts"
import { testSettings } from "./support/systems.ts"

brokerContract("a broker in memory", MemoryBroker.layer.pipe(Layer.provideMerge(ActorConfig.layer(testSettings))))
