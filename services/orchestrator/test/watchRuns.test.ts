/** The watch on a broker, beside services that show what they are told to. */
import { assert, layer } from "@effect/vitest"
import { ActorConfig, actorLayer, Broker, drain, MemoryBroker, Messenger } from "@reprise/actor"
import { escalationIdOf, Host, type PublicEventType, RunId, turnIdOf } from "@reprise/protocol"
import { Effect, Layer, Stream } from "effect"
import { runActor } from "../src/actor/actor.ts"
import { layerWith } from "../src/service.ts"
import { head, startRun } from "./support/story.ts"

const config = ActorConfig.layer({ prefix: "test" })
const broker = MemoryBroker.layer.pipe(Layer.provideMerge(config))
const world = Messenger.layer.pipe(Layer.provideMerge(broker))
const watching = layerWith({ lookEveryMs: 5 })
