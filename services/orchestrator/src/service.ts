/** The orchestrator: Run actors that send and receive messages and do nothing else. */
import { actorLayer } from "@reprise/actor"
import { runActor } from "./actor/actor.ts"

export const layer = actorLayer(runActor)
