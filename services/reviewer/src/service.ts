import { actorLayer } from "@reprise/actor"
import { reviewActor } from "./actor/actor.ts"

/** The reviewer service: Review actors only. Their reviews are turns of the session-manager. Runs with any number of replicas. */
export const layer = actorLayer(reviewActor)
