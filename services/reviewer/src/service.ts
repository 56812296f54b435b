import { actorLayer } from "@reprise/actor"
import { reviewActor } from "./actor/actor.ts"

/** The reviewer service: Review actors, whose reviews are turns of the session-manager. Any number of replicas. */
export const layer = actorLayer(reviewActor)
