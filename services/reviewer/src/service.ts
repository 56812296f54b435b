/** The reviewer as a service: Review actors and nothing else. Its reviews are turns of the session-manager. */
import { actorLayer } from "@reprise/actor"
import { reviewActor } from "./domain/reviewActor.ts"

export const layer = actorLayer(reviewActor)
