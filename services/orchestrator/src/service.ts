/** The orchestrator: Run actors, which send and receive messages and touch nothing else. */
import { actorLayer } from "@reprise/actor"
import { runActor } from "./actor/actor.ts"

export const layer = actorLayer(runActor)
