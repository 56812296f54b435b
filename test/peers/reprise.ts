/** Each step is a piece of work for a worker. */
import { makeReprise } from "./repriseActor.ts"

export const reprise = makeReprise("reprise", "worker")
