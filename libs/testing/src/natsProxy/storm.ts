/** Faults from a seed, for everything that passes a proxy. */
import { createHash } from "node:crypto"
import type { Fate } from "./Direction.ts"
import type { Fates, Passing } from "./NatsProxy.ts"

/** What happens to a frame that meets with a fault: each is as likely as any other. */
const kinds: ReadonlyArray<Fate> = [
  { do: "delay", ms: 5 },
  { do: "delay", ms: 60 },
  { do: "delay", ms: 400 },
  { do: "overtake", ms: 50 },
  { do: "overtake", ms: 50 },
  { do: "overtake", ms: 500 },
  { do: "repeat" },
  { do: "repeat" },
  { do: "swallow" },
  { do: "swallow" },
  { do: "cut" },
  { do: "cut" }
]

/** What a client that tries again sends twice: a message with an id, an acknowledgement, a look. A delivery may come twice. */
const isRepeatable = ({ hasId, kind, operation }: Passing): boolean =>
  kind === "deliver" ||
  (kind !== "answer" && (hasId || operation.startsWith("$JS.ACK.") || operation.includes(".INFO")))

/**
 * Of a thousand frames, so many meet with a fault. Which ones, and with which fault, depends on the seed and on what each
 * frame is, not on what others send meanwhile.
 */
export const stormOf =
  (seed: number, faultsInThousand: number): Fates =>
  (passing) => {
    const { client, kind, nth, operation } = passing
    const hash = createHash("sha256").update(`${seed} ${client} ${kind} ${operation} ${nth}`).digest()
    if (hash.readUInt32LE(0) % 1_000 >= faultsInThousand) return undefined
    const fate = kinds[hash.readUInt32LE(4) % kinds.length]
    return fate?.do === "repeat" && !isRepeatable(passing) ? undefined : fate
  }
