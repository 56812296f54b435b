import { actorLayer } from "@reprise/actor"
import { escalationActor } from "./domain/escalationActor.ts"

/** The gate service: keeps questions to humans until they are answered. Any number of replicas. */
export const layer = actorLayer(escalationActor)
