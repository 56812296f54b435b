/** Who talks to the broker: each service, a person at the gate, and an operator. Pure. */
import { ServiceName } from "@reprise/protocol"
import { Schema } from "effect"

/**
 * `person`: whoever starts runs, follows them and answers questions, by the command line or a program of their own.
 * `operator`: makes the streams, removes what is stored, and repairs.
 */
export const Identity = Schema.Literals([...ServiceName.literals, "person", "operator"])
export type Identity = typeof Identity.Type

export const identities: ReadonlyArray<Identity> = Identity.literals

/** Who logs in with a key everywhere: to an embedded server a person has a password. */
export const keyHolders = [...ServiceName.literals, "operator"] as const
export type KeyHolder = (typeof keyHolders)[number]

/** What the subjects of replies to an identity begin with: nobody else may listen there. A person's is every client's default. */
export const inboxOf = (identity: Identity): string => (identity === "person" ? "_INBOX" : `_INBOX_${identity}`)
