import { broker } from "./broker.ts"
import { bullmq } from "./bullmq.ts"
import { dbos } from "./dbos.ts"
import type { Peer } from "./Peer.ts"
import { reprise } from "./reprise.ts"
import { repriseAlone } from "./repriseAlone.ts"
import { restate } from "./restate.ts"

export const peers: ReadonlyArray<Peer> = [broker, repriseAlone, reprise, restate, dbos, bullmq]
