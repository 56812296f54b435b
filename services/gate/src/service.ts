import { actorLayer } from "@reprise/actor"
import { escalationActor } from "./actor/actor.ts"

/** The gate service: keeps questions to humans until they are answered. Runs with any number of replicas. */
export const layer = actorLayer(escalationActor)
