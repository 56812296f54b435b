/** The actor does its steps by itself: decisions only, which have no effect outside. */
import { makeReprise } from "./repriseActor.ts"

export const repriseAlone = makeReprise("repriseAlone", "actor")
